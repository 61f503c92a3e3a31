#include "tensor_file.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"

namespace mantissa::golden {
namespace {

using nlohmann::json;

std::optional<at::ScalarType> dtype_of(const std::string& name) {
    static const std::map<std::string, at::ScalarType> known = {
        {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf}, {"BF16", at::kBFloat16}, {"I64", at::kLong},
        {"I32", at::kInt},    {"I16", at::kShort}, {"I8", at::kChar},  {"U8", at::kByte},       {"BOOL", at::kBool}};
    const auto found = known.find(name);
    return found == known.end() ? std::nullopt : std::optional(found->second);
}

// The tensor that `entry` describes, or an empty optional when anything of it is wrong.
std::optional<torch::Tensor> tensor_of(const json& entry, const char* bytes, std::uint64_t size) {
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
        !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2) {
        return std::nullopt;
    }
    const auto dtype = dtype_of(entry["dtype"].get<std::string>());
    const json& offsets = entry["data_offsets"];
    if (!dtype || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) {
        return std::nullopt;
    }
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    std::uint64_t count = 1;
    std::vector<std::int64_t> shape;
    for (const json& length : entry["shape"]) {
        if (!length.is_number_unsigned() || length.get<std::uint64_t>() > size) {
            return std::nullopt;
        }
        shape.push_back(length.get<std::int64_t>());
        if (__builtin_mul_overflow(count, length.get<std::uint64_t>(), &count)) {
            return std::nullopt;
        }
    }
    if (begin > end || end > size || count > size || end - begin != count * c10::elementSize(*dtype)) {
        return std::nullopt;
    }
    torch::Tensor tensor = torch::empty(shape, *dtype);
    std::memcpy(tensor.data_ptr(), bytes + begin, end - begin);
    return tensor;
}

}  // namespace

Result<std::map<std::string, torch::Tensor>> read_tensor_file(const std::filesystem::path& file) {
    const auto content = read_file(file);
    if (!content) {
        return content.error();
    }
    const auto damaged = [&](const std::string& why) {
        return Error{ErrorCode::BadPlan, file.string() + " is not a safetensors file: " + why, ""};
    };
    std::uint64_t header = 0;
    if (content->size() < sizeof header) {
        return damaged("it has " + std::to_string(content->size()) + " bytes");
    }
    std::memcpy(&header, content->data(), sizeof header);
    if (header > content->size() - sizeof header) {
        return damaged("its header says " + std::to_string(header) + " bytes, more than the file has");
    }
    const json table = json::parse(content->substr(sizeof header, header), nullptr, false);
    if (!table.is_object()) {
        return damaged("its header is not a JSON object");
    }
    std::map<std::string, torch::Tensor> tensors;
    const char* bytes = content->data() + sizeof header + header;
    const std::uint64_t size = content->size() - sizeof header - header;
    for (const auto& [name, entry] : table.items()) {
        if (name == "__metadata__") {
            continue;
        }
        auto tensor = tensor_of(entry, bytes, size);
        if (!tensor) {
            return damaged("the entry '" + name + "' does not fit the file");
        }
        tensors.emplace(name, std::move(*tensor));
    }
    return tensors;
}

}  // namespace mantissa::golden
