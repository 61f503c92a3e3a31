#pragma once
// The JSON header of a safetensors file, checked against the number of bytes that follow it. Internal to
// core/formats.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/safetensors.h"

namespace mantissa::formats {

struct TensorPlace {
    std::string name;
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0;  // in the data area
};

struct SafeTensorHeader {
    std::vector<TensorPlace> tensors;  // in the order of their bytes, without gaps or overlaps
    std::map<std::string, std::string> metadata;
};

/// Error messages start with `source`.
Result<SafeTensorHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                  const std::string& source);

}  // namespace mantissa::formats
