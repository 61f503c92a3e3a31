#pragma once
// What a training loop does wrong, found before it costs a run. Each check throws an EngineError whose sentence names the place and
// what helps; each costs nanoseconds.
#include <cstdint>
#include <string>

#include "engine/autocast_scope.h"

namespace mantissa {

struct PreparedModelState;
struct PreparedLoaders;

}  // namespace mantissa

namespace mantissa::misuse {

/// `what` is the beginning of the sentence, "backward".
void refuse_inside_autocast(at::DeviceType device, const char* what);

/// One floating-point value with a graph, not seen by any Accelerator of this thread among the last ones, not scaled already.
void check_loss(const torch::Tensor& loss, std::int64_t attempt);
/// Backward, with torch's message about a freed graph turned into ours.
void walk_back(const torch::Tensor& root);

/// A weight that is trained must be fp32 or fp64; a frozen one may be half.
void refuse_half_weight(const torch::Tensor& parameter, const std::string& name);

/// Batch norm's statistics, while it trains.
void refuse_half_statistics(const torch::nn::Module& module);

[[nodiscard]] bool is_elsewhere(const torch::Tensor& tensor, torch::Device device);
/// Argument `position` (from 1) of a prepared model's forward lies on another device: says which boundary it came over.
[[noreturn]] void refuse_argument_device(const torch::Tensor& argument, int position, const PreparedModelState& model,
                                         const PreparedLoaders& loaders);
[[noreturn]] void refuse_loss_device(const torch::Tensor& loss, torch::Device device);
/// Looks at every weight and buffer: nanoseconds each.
void refuse_moved_model(const PreparedModelState& model);
/// After torch threw in a forward pass: throws a better sentence when a device boundary is the reason, else returns.
void explain_forward_error(const c10::Error& error, const PreparedModelState& model);

/// The handle was released by free_memory(), or default made.
[[noreturn]] void refuse_released(const char* what);

}  // namespace mantissa::misuse
