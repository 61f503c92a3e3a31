#pragma once
// Tensors as safetensors files, as Python's safetensors.torch writes and reads them: contiguous, metadata {"format": "pt"}, of names
// that share one tensor the first in order is kept and the others stand in the metadata ("tied name": "kept name").
#include <filesystem>
#include <map>

#include "base/result.h"
#include "checkpoint/state_bundle.h"

namespace mantissa {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

struct WrittenFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::string sha256;
};

/// Atomic and synced. Tensors may lie on any device and have any strides; an undefined one is left out. A type that the format
/// doesn't know (complex, sparse, quantised) is an error that names the tensor.
Result<WrittenFile> write_tensor_file(const std::filesystem::path& path, const NamedTensors& tensors);

/// On the CPU, by name; tied names come back as the same tensor. Every length and offset is checked.
Result<NamedTensors> read_tensor_file(const std::filesystem::path& path);

/// Of which every name after the first shares memory, type, sizes and strides with an earlier one: {tied, kept}.
[[nodiscard]] std::map<std::string, std::string> tied_names(const NamedTensors& tensors);

/// "Float [2, 3]", for sentences.
[[nodiscard]] std::string readable_type(const torch::Tensor& tensor);

}  // namespace mantissa
