#pragma once
// The weights of a checkpoint as a file of their own: a copy of its model.safetensors, byte for byte, written beside the target and
// renamed. No Qt, no thread of its own.
#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "record/checkpoint_info.h"

namespace mantissa::ui {

struct WrittenWeights {
    std::filesystem::path file;
    std::int64_t tensors = 0, bytes = 0;
    CheckpointInfo from;
};

[[nodiscard]] Result<WrittenWeights> writeWeights(const CheckpointInfo& from, const std::filesystem::path& file);

}  // namespace mantissa::ui
