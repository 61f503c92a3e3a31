#pragma once
// Arrays of numbers in files: their type and shape first, then their elements in blocks, so that an array larger than memory can be
// read. Whatever the file's type, elements come as double (whole numbers of 2^53 or more are refused).
//
// IDX: two zero bytes, a type byte, the number of dimensions, each as a big-endian uint32, then the elements, big-endian
//   (https://github.com/cvdfoundation/mnist describes it by example).
// npy: magic, version, a header that is a Python dict in text, then the elements (numpy.lib.format).
// npz: a zip archive of npy files.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/byte_reader.h"

namespace mantissa {

enum class ElementType { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };
[[nodiscard]] const char* to_string(ElementType type);  // "float32", "uint8"
[[nodiscard]] std::size_t bytes_of(ElementType type);

class ArrayReader {
  public:
    ArrayReader(std::unique_ptr<ByteReader> bytes, ElementType type, bool is_big_endian, std::vector<std::int64_t> shape);

    [[nodiscard]] ElementType type() const { return m_type; }
    [[nodiscard]] const std::vector<std::int64_t>& shape() const { return m_shape; }
    [[nodiscard]] std::int64_t elements() const { return m_elements; }
    [[nodiscard]] const std::string& name() const { return m_bytes->name(); }
    /// The next `count` elements, row-major; asking for more than are left is a fault of the caller.
    Result<void> read(std::int64_t count, double* to);
    /// After the last element: what follows it in the file is an error.
    Result<void> expect_end();
    [[nodiscard]] Error error(const std::string& what, const std::string& hint = "") const { return m_bytes->error(what, hint); }

  private:
    std::unique_ptr<ByteReader> m_bytes;
    ElementType m_type;
    bool m_is_big_endian;
    std::vector<std::int64_t> m_shape;
    std::int64_t m_elements, m_given = 0;
    std::vector<unsigned char> m_block;
};

/// How many elements a shape has; nothing when one of its sizes is negative or they don't fit 2^47 together.
[[nodiscard]] std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape);
/// "60000 × 28 × 28"; "one number" for no dimension.
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

Result<ArrayReader> open_idx(const std::filesystem::path& path);
Result<ArrayReader> open_npy(const std::filesystem::path& path);
Result<ArrayReader> open_npy(std::unique_ptr<ByteReader> bytes);

/// Names of the arrays in it, without ".npy", in the archive's order; at most 1,000. An archive with an encrypted or oddly packed
/// member is an error where that one is opened.
Result<std::vector<std::string>> npz_names(const std::filesystem::path& path);
Result<ArrayReader> open_npz(const std::filesystem::path& path, const std::string& name);

/// Of a safetensors file, in its header's order of names.
Result<std::vector<std::string>> tensor_names(const std::filesystem::path& path);
Result<ArrayReader> open_tensor(const std::filesystem::path& path, const std::string& name);

}  // namespace mantissa
