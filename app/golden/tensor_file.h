#pragma once
// A safetensors file: names, dtypes, shapes and bytes. Every length is checked against the file before it is used.
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "torch_pch.h"

namespace mantissa::golden {

Result<std::map<std::string, torch::Tensor>> read_tensor_file(const std::filesystem::path& file);

}  // namespace mantissa::golden
