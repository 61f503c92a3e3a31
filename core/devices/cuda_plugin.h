#pragma once
// Finds and loads libmantissa-cuda.so, once, when the driver and LibTorch's CUDA part are there.
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "devices/cuda_api.h"

namespace mantissa {

/// MANTISSA_CUDA_PLUGIN alone where it is set; else beside the module that this code is in.
[[nodiscard]] std::vector<std::filesystem::path> cuda_plugin_candidates();
/// Refuses a file that isn't there, can't be loaded, or was built for another version of this program or of LibTorch.
[[nodiscard]] Result<const CudaApi*> load_cuda_plugin_from(const std::filesystem::path& file);
/// The first candidate that exists.
[[nodiscard]] Result<const CudaApi*> load_cuda_plugin();
/// What load_cuda_plugin() has loaded in this process; null: nothing.
[[nodiscard]] const CudaApi* loaded_cuda_plugin();

}  // namespace mantissa
