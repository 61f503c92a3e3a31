#pragma once
// A model's weights as Python finds them: bare names, the types that the model has (prepare() keeps them fp32), safetensors; larger
// ones in shards with an index, in Hugging Face's form.
#include "checkpoint/tensor_file.h"

namespace mantissa {

struct SaveModelOptions {
    std::uint64_t max_shard_size = 10'000'000'000;  // bytes of a file's tensors; one larger tensor has a file of its own
};

/// What load_model() found; with `strict` any of it is an error.
struct LoadedModel {
    std::vector<std::string> missing;      // in the model, not in the file
    std::vector<std::string> unexpected;   // in the file, not in the model
    std::vector<std::string> mis_shaped;   // "layer.weight: Float [2, 3] in the file, Float [2, 4] in the model"
    [[nodiscard]] bool is_complete() const { return missing.empty() && unexpected.empty() && mis_shaped.empty(); }
};

/// Parameters, then buffers, under their bare names; the live tensors, detached.
[[nodiscard]] NamedTensors weights_of(const torch::nn::Module& module);
/// Throws EngineError with the names that differ; types must be the same, too.
void check_fits(const torch::nn::Module& module, const NamedTensors& tensors);
/// By name, into the tensors that the module has; names of one side only and other shapes are left out.
void copy_into(torch::nn::Module& module, const NamedTensors& tensors);

/// model.safetensors, or model-00001-of-0000N.safetensors … with model.safetensors.index.json. Each file is written beside and renamed;
/// weights that an earlier save left in the folder are removed. Returns the files. Throws EngineError.
std::vector<std::filesystem::path> save_weights(const NamedTensors& tensors, const std::filesystem::path& folder,
                                                const SaveModelOptions& options = {});
/// `place` is a .safetensors file, an index, or a folder that holds either. Throws EngineError.
[[nodiscard]] NamedTensors read_weights(const std::filesystem::path& place);
/// Values are converted to the model's types. All or nothing: with `strict` whatever doesn't fit is an error that lists it; without,
/// what fits is taken.
LoadedModel load_weights(torch::nn::Module& module, const std::filesystem::path& place, bool strict = true);

}  // namespace mantissa
