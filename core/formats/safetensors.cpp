#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/sha256.h"
#include "formats/safetensors_header.h"

namespace mantissa {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors holds little-endian values, which are taken as they are");

struct TypeRow {
    TensorType type;
    const char* name;
    std::size_t bytes;
};
// In the order in which the reference writer puts tensors into a file (which keeps every tensor aligned).
constexpr std::array<TypeRow, 10> types{{{TensorType::I64, "I64", 8},
                                        {TensorType::F64, "F64", 8},
                                        {TensorType::F32, "F32", 4},
                                        {TensorType::I32, "I32", 4},
                                        {TensorType::BF16, "BF16", 2},
                                        {TensorType::F16, "F16", 2},
                                        {TensorType::I16, "I16", 2},
                                        {TensorType::I8, "I8", 1},
                                        {TensorType::U8, "U8", 1},
                                        {TensorType::Bool, "BOOL", 1}}};

std::size_t file_rank(TensorType type) {
    return static_cast<std::size_t>(
        std::find_if(types.begin(), types.end(), [&](const TypeRow& row) { return row.type == type; }) -
        types.begin());
}

Error short_file(const std::string& source, std::uint64_t size) {
    return {ErrorCode::InputOutput,
            source + " is no safetensors file: it has only " + std::to_string(size) + " bytes", ""};
}

Result<std::string> read_header(std::ifstream& file, std::uint64_t size, const std::string& source,
                                const SafeTensorLimits& limits) {
    std::uint64_t length = 0;
    if (size < 8 || !file.read(reinterpret_cast<char*>(&length), 8)) return short_file(source, size);
    if (length > size - 8 || length > limits.header_bytes) {
        return Error{ErrorCode::InputOutput,
                     source + " is damaged or no safetensors file: bytes 0 to 7 give a header of " +
                         std::to_string(length) + " bytes, the file has " + std::to_string(size),
                     "fetch the file again"};
    }
    std::string header(length, '\0');
    if (!file.read(header.data(), static_cast<std::streamsize>(length))) return short_file(source, size);
    return header;
}

}  // namespace

const char* to_string(TensorType type) {
    for (const TypeRow& row : types) {
        if (row.type == type) return row.name;
    }
    return "";
}

std::optional<TensorType> parse_tensor_type(std::string_view text) {
    for (const TypeRow& row : types) {
        if (text == row.name) return row.type;
    }
    return std::nullopt;
}

std::size_t bytes_per_element(TensorType type) {
    for (const TypeRow& row : types) {
        if (row.type == type) return row.bytes;
    }
    return 0;
}

std::int64_t SafeTensor::elements() const {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

Result<SafeTensors> read_safetensors(const std::filesystem::path& path,
                                     std::map<std::string, std::string>* metadata,
                                     const SafeTensorLimits& limits) {
    const std::string source = path.string();
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    if (error) return Error{ErrorCode::InputOutput, source + " can't be read: " + error.message(), ""};
    if (size > limits.file_bytes) {
        return Error{
            ErrorCode::InputOutput,
            source + " is larger than the " + std::to_string(limits.file_bytes) + " bytes allowed here", ""};
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{ErrorCode::InputOutput, source + " can't be read: " + std::strerror(errno), ""};
    const auto text = read_header(file, size, source, limits);
    if (!text) return text.error();
    auto header = formats::parse_safetensors_header(*text, size - 8 - text->size(), source);
    if (!header) return header.error();
    SafeTensors tensors;
    for (const formats::TensorPlace& place : header->tensors) {
        SafeTensor tensor{place.type, place.shape, std::vector<std::byte>(place.end - place.begin)};
        if (!file.read(reinterpret_cast<char*>(tensor.bytes.data()),
                       static_cast<std::streamsize>(tensor.bytes.size()))) {
            return Error{ErrorCode::InputOutput, source + " ended while tensor '" + place.name + "' was read",
                         ""};
        }
        tensors.emplace(place.name, std::move(tensor));
    }
    if (metadata) *metadata = std::move(header->metadata);
    return tensors;
}

Result<void> write_safetensors(const std::filesystem::path& path, const SafeTensors& tensors,
                               const std::map<std::string, std::string>& metadata) {
    std::map<std::string, SafeTensorView> views;
    for (const auto& [name, tensor] : tensors) {
        views[name] = {tensor.type, tensor.shape,
                       {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()}};
    }
    const auto written = write_safetensors(path, views, metadata);
    return written ? Result<void>() : written.error();
}

Result<WrittenSafeTensors> write_safetensors(const std::filesystem::path& path,
                                             const std::map<std::string, SafeTensorView>& tensors,
                                             const std::map<std::string, std::string>& metadata) {
    std::vector<const std::map<std::string, SafeTensorView>::value_type*> order;
    for (const auto& entry : tensors) {
        std::uint64_t expected = bytes_per_element(entry.second.type);
        for (const std::int64_t size : entry.second.shape) expected *= static_cast<std::uint64_t>(size);
        if (expected != entry.second.bytes.size() || entry.first == "__metadata__") {
            return Error{ErrorCode::Internal,
                         "tensor '" + entry.first + "' has " + std::to_string(entry.second.bytes.size()) +
                             " bytes, its shape needs " + std::to_string(expected),
                         ""};
        }
        order.push_back(&entry);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return file_rank(a->second.type) < file_rank(b->second.type);
    });
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::uint64_t at = 0;
    for (const auto* entry : order) {
        const SafeTensorView& tensor = entry->second;
        header[entry->first] = {{"dtype", to_string(tensor.type)},
                                {"shape", tensor.shape},
                                {"data_offsets", {at, at + tensor.bytes.size()}}};
        at += tensor.bytes.size();
    }
    std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    std::vector<std::string_view> parts{{reinterpret_cast<const char*>(&length), 8}, text};
    for (const auto* entry : order) parts.push_back(entry->second.bytes);
    Sha256 hash;
    for (const std::string_view part : parts) hash.add(part);
    if (const auto written = write_file_atomically(path, parts); !written) return written.error();
    return WrittenSafeTensors{8 + text.size() + at, hash.hex()};
}

}  // namespace mantissa
