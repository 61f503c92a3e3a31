#pragma once
// What keeps the copies of one model equal on all processes that train it. Every function is collective.
#include <string>
#include <vector>

#include "engine/process_group.h"

namespace mantissa {

/// In place, the tensors of process `from_rank` on all. They go over in one piece per dtype and device.
void broadcast_together(ProcessGroup& group, const std::vector<torch::Tensor>& tensors, std::int64_t from_rank);

/// Weights and buffers of the main process on all. Throws EngineError when a process has other parameters or buffers: the first
/// difference, with both sides.
void make_equal(ProcessGroup& group, const torch::nn::Module& module);

/// Throws EngineError unless all processes bring the same text: which one differs, and both texts. `what` begins the sentence.
void refuse_differences(ProcessGroup& group, const std::string& text, const char* what, const char* advice);

}  // namespace mantissa
