#include <algorithm>
#include <optional>
#include <utility>

#include "formats/array_reader.h"
#include "formats/safetensors_header.h"

namespace mantissa {
namespace {

ElementType element_type(TensorType type) {
    switch (type) {
        case TensorType::F64: return ElementType::F64;
        case TensorType::F32: return ElementType::F32;
        case TensorType::F16: return ElementType::F16;
        case TensorType::BF16: return ElementType::BF16;
        case TensorType::I64: return ElementType::I64;
        case TensorType::I32: return ElementType::I32;
        case TensorType::I16: return ElementType::I16;
        case TensorType::I8: return ElementType::I8;
        case TensorType::U8: return ElementType::U8;
        case TensorType::Bool: return ElementType::Bool;
    }
    return ElementType::U8;
}

struct OpenTensors {
    std::unique_ptr<ByteReader> bytes;  // at the first byte behind the header
    formats::SafeTensorHeader header;
};

Result<OpenTensors> open_header(const std::filesystem::path& path) {
    std::error_code failed;
    const std::uint64_t size = std::filesystem::file_size(path, failed);
    if (failed) return Error{ErrorCode::InputOutput, path.string() + " can't be read: " + failed.message(), ""};
    auto bytes = open_bytes(path);
    if (!bytes) return bytes.error();
    unsigned char start[8] = {};
    if (auto done = (*bytes)->read_whole(start, 8, "the header's length"); !done) return done.error();
    std::uint64_t length = 0;
    for (int i = 0; i < 8; ++i) length |= std::uint64_t{start[i]} << (8 * i);
    if (length > SafeTensorLimits{}.header_bytes || length > size - std::min<std::uint64_t>(size, 8))
        return (*bytes)->error("byte 0: a header of " + std::to_string(length) + " bytes, more than the file or the limit");
    std::string text(length, '\0');
    if (auto done = (*bytes)->read_whole(text.data(), length, "the header"); !done) return done.error();
    auto header = formats::parse_safetensors_header(text, size - 8 - length, path.string());
    if (!header) return header.error();
    return OpenTensors{std::move(*bytes), std::move(*header)};
}

/// One tensor's bytes out of the whole.
class TensorBytes : public ByteReader {
  public:
    TensorBytes(std::string name, std::unique_ptr<ByteReader> bytes, std::uint64_t left) : ByteReader(std::move(name)), m_bytes(std::move(bytes)), m_left(left) {}

  private:
    Result<std::size_t> take(void* to, std::size_t size) override {
        const auto got = m_bytes->read(to, static_cast<std::size_t>(std::min<std::uint64_t>(size, m_left)));
        if (got) m_left -= *got;
        return got;
    }
    std::unique_ptr<ByteReader> m_bytes;
    std::uint64_t m_left;
};

}  // namespace

Result<std::vector<std::string>> tensor_names(const std::filesystem::path& path) {
    const auto open = open_header(path);
    if (!open) return open.error();
    std::vector<std::string> names;
    for (const auto& tensor : open->header.tensors) names.push_back(tensor.name);
    return names;
}

Result<ArrayReader> open_tensor(const std::filesystem::path& path, const std::string& name) {
    auto open = open_header(path);
    if (!open) return open.error();
    const auto& all = open->header.tensors;
    const auto found = std::find_if(all.begin(), all.end(), [&name](const auto& tensor) { return tensor.name == name; });
    if (found == all.end()) return Error{ErrorCode::InputOutput, path.string() + " holds no tensor '" + name + "'", ""};
    std::vector<char> skipped(64 * 1024);
    for (std::uint64_t left = found->begin; left > 0;) {
        const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(left, skipped.size()));
        if (auto done = open->bytes->read_whole(skipped.data(), now, "its tensors"); !done) return done.error();
        left -= now;
    }
    if (!elements_of(found->shape)) return Error{ErrorCode::InputOutput, path.string() + ", " + name + ", has an impossible size", ""};
    return ArrayReader(std::make_unique<TensorBytes>(path.string() + ", " + name + ",", std::move(open->bytes), found->end - found->begin), element_type(found->type), false,
                       found->shape);
}

}  // namespace mantissa
