#pragma once
// state.json of a checkpoint folder. Internal to core/checkpoint.
#include <nlohmann/json_fwd.hpp>

#include "checkpoint/checkpoint_files.h"

namespace mantissa::checkpoint {

/// Doubles keep their bits: non-finite ones, too.
[[nodiscard]] nlohmann::json facts_to_json(const std::map<std::string, Fact>& facts);
Result<std::map<std::string, Fact>> facts_from_json(const nlohmann::json& json, const std::string& place);

struct StateFile {
    Checkpoint checkpoint;  // without tensors
    std::vector<WrittenFile> files;

    [[nodiscard]] bool names(const std::string& file) const;
};

[[nodiscard]] std::string state_to_text(const StateFile& state);
/// Errors begin with `source`.
Result<StateFile> state_from_text(const std::string& text, const std::string& source);

/// "model.safetensors", "model_1.safetensors", …
[[nodiscard]] std::string numbered_name(const char* stem, std::size_t index);
[[nodiscard]] std::string custom_name(std::size_t index);
[[nodiscard]] std::string rank_name(const char* stem, std::int64_t rank);

}  // namespace mantissa::checkpoint
