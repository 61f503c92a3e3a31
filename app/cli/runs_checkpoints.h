#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "record/checkpoint_info.h"

namespace mantissa::cli {

/// `runs checkpoints RUN`: those of a run, or of every run of a comparison.
int show_checkpoints(const std::filesystem::path& folder, bool json);

/// {checkpoints: [...], bytes, damaged: [...]} of one run.
nlohmann::json checkpoints_json(const std::filesystem::path& run);
/// "2 checkpoints (1.2 MB), the newest after 300 steps"; empty when there is none.
std::string checkpoints_line(const std::filesystem::path& run);

/// Copies the weights of a run's newest checkpoint, or of number `number`, names and bytes as they were saved.
Result<void> export_weights(const std::filesystem::path& run, std::optional<std::int64_t> number,
                            const std::filesystem::path& file);

}  // namespace mantissa::cli
