#pragma once
// A checkpoint that stays in memory while training goes on: its tensors are copies of their own.
#include "checkpoint/checkpoint_files.h"

namespace mantissa {

/// Of all tensors, in bytes.
[[nodiscard]] std::int64_t tensor_bytes(const Checkpoint& checkpoint);

/// Puts copies in host memory in the place of the live tensors. The copies of `former`, which isn't needed any more, are written
/// over where name, shape and type fit. Their memory doesn't come from LibTorch's allocator, so that what is measured there stays
/// the training's own.
void copy_tensors(Checkpoint& checkpoint, Checkpoint former = {});

}  // namespace mantissa
