#pragma once
// safetensors files: 8 bytes header length (little-endian), a JSON header, then the tensors' bytes. Reading trusts nothing: header
// length, JSON depth, names, shapes and offsets are checked against the file before a byte is taken. Source of the format:
// https://github.com/huggingface/safetensors (README, "Format").
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

enum class TensorType { F64, F32, F16, BF16, I64, I32, I16, I8, U8, Bool };
[[nodiscard]] const char* to_string(TensorType type);  // as in the file: "F32" "BOOL"
[[nodiscard]] std::optional<TensorType> parse_tensor_type(std::string_view text);
[[nodiscard]] std::size_t bytes_per_element(TensorType type);

struct SafeTensor {
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape;  // empty = a scalar
    std::vector<std::byte> bytes;     // row-major, little-endian

    [[nodiscard]] std::int64_t elements() const;
    bool operator==(const SafeTensor&) const = default;
};

using SafeTensors = std::map<std::string, SafeTensor>;

struct SafeTensorLimits {
    std::uint64_t header_bytes = 64ull << 20;
    std::uint64_t file_bytes = 64ull << 30;
};

/// `metadata` (may be null) receives the texts of "__metadata__".
Result<SafeTensors> read_safetensors(const std::filesystem::path& path, std::map<std::string, std::string>* metadata = nullptr,
                                     const SafeTensorLimits& limits = {});
/// Atomic. Byte for byte what the reference writer makes of the same tensors: ordered by type, then by name; padded header.
Result<void> write_safetensors(const std::filesystem::path& path, const SafeTensors& tensors,
                               const std::map<std::string, std::string>& metadata = {});

/// A tensor whose bytes lie elsewhere, for writers that needn't copy them.
struct SafeTensorView {
    TensorType type = TensorType::F32;
    std::vector<std::int64_t> shape;
    std::string_view bytes;
};
struct WrittenSafeTensors {
    std::uint64_t bytes = 0;
    std::string sha256;
};
Result<WrittenSafeTensors> write_safetensors(const std::filesystem::path& path,
                                             const std::map<std::string, SafeTensorView>& tensors,
                                             const std::map<std::string, std::string>& metadata);

}  // namespace mantissa
