#pragma once
// Memory of a model before training, from its sizes alone. Two kinds: what `accelerate estimate-memory` says
// (accelerate 1.15, utils/modeling.py calculate_maximum_sizes, commands/estimate.py estimate_training_usage),
// and what weights, gradients and optimizer state take in every precision mode. Activations, casts and data
// depend on the run; only a trial tells them.
#include <cstdint>
#include <string>
#include <vector>

#include "plan/run_plan.h"

namespace mantissa {

/// A module without children that holds tensors; parameters are fp32.
struct ModuleSize {
    std::string path;
    std::int64_t parameters = 0;
    std::int64_t buffer_bytes = 0;  // batch norm's running statistics and its counter
};

/// The modules of a catalogue model on data of that width; a test compares with the models themselves.
[[nodiscard]] std::vector<ModuleSize> module_sizes(const ModelPlan& model, std::int64_t features,
                                                   std::int64_t classes);

struct ModelSize {
    std::int64_t parameters = 0;
    std::int64_t bytes = 0;                   // fp32, buffers included
    std::int64_t largest_layer_bytes = 0;     // of one module
    std::vector<std::string> largest_layers;  // all that are that large
};
[[nodiscard]] ModelSize model_size(const std::vector<ModuleSize>& modules);

enum class StoredType { Float32, Float16, BFloat16, Int8, Int4 };
[[nodiscard]] const char* to_string(StoredType type);  // "float32" …
/// Accelerate divides the fp32 size: 1, 1/2, 1/2, 1/4, 1/8.
[[nodiscard]] double stored_bytes(std::int64_t fp32_bytes, StoredType type);

/// Parts of "training with Adam" as Accelerate counts them; the total it shows is the largest part.
struct TrainingParts {
    std::int64_t model = 0, gradients = 0, optimizer = 0, step = 0;
    [[nodiscard]] std::int64_t largest() const;
};
/// Int8 and Int4 have no training in it: `has_training` is false for them.
[[nodiscard]] bool has_training(StoredType type);
[[nodiscard]] TrainingParts accelerate_training(std::int64_t fp32_bytes, StoredType type);

/// What stays in memory between two steps, the same in every precision mode: fp32 weights and buffers, fp32
/// gradients, and the optimizer's state.
struct ResidentBytes {
    std::int64_t weights = 0, gradients = 0, optimizer = 0;
    [[nodiscard]] std::int64_t total() const { return weights + gradients + optimizer; }
};
[[nodiscard]] ResidentBytes resident_bytes(const ModelSize& size, const OptimizerPlan& optimizer);

}  // namespace mantissa
