#include "checkpoint/tensor_file.h"

#include <algorithm>
#include <tuple>

#include "formats/safetensors.h"

namespace mantissa {
namespace {

struct TypePair {
    TensorType file;
    at::ScalarType torch;
};
constexpr TypePair type_pairs[] = {{TensorType::F64, at::kDouble}, {TensorType::F32, at::kFloat}, {TensorType::F16, at::kHalf},
                                   {TensorType::BF16, at::kBFloat16}, {TensorType::I64, at::kLong}, {TensorType::I32, at::kInt},
                                   {TensorType::I16, at::kShort}, {TensorType::I8, at::kChar}, {TensorType::U8, at::kByte},
                                   {TensorType::Bool, at::kBool}};

std::optional<TensorType> file_type(const torch::Tensor& tensor) {
    if (tensor.layout() != at::kStrided || tensor.is_quantized()) return std::nullopt;
    for (const TypePair& pair : type_pairs) {
        if (pair.torch == tensor.scalar_type()) return pair.file;
    }
    return std::nullopt;
}

at::ScalarType torch_type(TensorType type) {
    for (const TypePair& pair : type_pairs) {
        if (pair.file == type) return pair.torch;
    }
    MANTISSA_ASSERT(false);
    return at::kFloat;
}

// The tensor takes over the bytes that were read; it isn't copied.
torch::Tensor tensor_of(SafeTensor&& read) {
    auto owner = std::make_shared<SafeTensor>(std::move(read));
    const auto options = torch::TensorOptions().dtype(torch_type(owner->type));
    if (owner->bytes.empty()) return torch::empty(owner->shape, options);
    void* bytes = owner->bytes.data();
    const std::vector<std::int64_t> shape = owner->shape;
    return torch::from_blob(bytes, shape, [owner](void*) {}, options);
}

}  // namespace

std::string readable_type(const torch::Tensor& tensor) {
    std::string text = std::string(c10::toString(tensor.scalar_type())) + " [";
    for (std::int64_t i = 0; i < tensor.dim(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.size(i));
    return text + "]";
}

std::map<std::string, std::string> tied_names(const NamedTensors& tensors) {
    using Place = std::tuple<const void*, at::ScalarType, std::vector<std::int64_t>, std::vector<std::int64_t>>;
    std::map<Place, std::vector<std::string>> groups;
    for (const auto& [name, tensor] : tensors) {
        if (tensor.defined() && tensor.layout() == at::kStrided && tensor.numel() > 0) {
            groups[{tensor.const_data_ptr(), tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec()}].push_back(name);
        }
    }
    std::map<std::string, std::string> tied;
    for (auto& [place, names] : groups) {
        std::sort(names.begin(), names.end());
        for (std::size_t i = 1; i < names.size(); ++i) tied[names[i]] = names.front();
    }
    return tied;
}

Result<WrittenFile> write_tensor_file(const std::filesystem::path& path, const NamedTensors& tensors) {
    std::map<std::string, std::string> metadata = tied_names(tensors);
    std::map<std::string, SafeTensorView> views;
    std::vector<torch::Tensor> kept;  // copies live until they are written
    for (const auto& [name, tensor] : tensors) {
        if (!tensor.defined() || metadata.contains(name)) continue;
        const auto type = file_type(tensor);
        if (!type || name == "__metadata__") {
            return Error{ErrorCode::InputOutput,
                         "the tensor " + name + " (" + readable_type(tensor) + ") can't be saved as safetensors",
                         "save real, dense tensors; split a complex one with torch::view_as_real"};
        }
        kept.push_back(tensor.detach().to(at::kCPU).contiguous());
        const torch::Tensor& whole = kept.back();
        views[name] = {*type, whole.sizes().vec(), {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()}};
    }
    metadata.insert_or_assign("format", "pt");
    const auto written = write_safetensors(path, views, metadata);
    if (!written) return written.error();
    return WrittenFile{path.filename().string(), written->bytes, written->sha256};
}

Result<NamedTensors> read_tensor_file(const std::filesystem::path& path) {
    std::map<std::string, std::string> metadata;
    auto read = read_safetensors(path, &metadata);
    if (!read) return read.error();
    NamedTensors tensors;
    std::map<std::string, std::size_t> places;
    for (auto& [name, tensor] : *read) {
        places[name] = tensors.size();
        tensors.emplace_back(name, tensor_of(std::move(tensor)));
    }
    for (const auto& [tied, kept] : metadata) {
        const auto place = places.find(kept);
        if (place != places.end() && !places.contains(tied)) tensors.emplace_back(tied, tensors[place->second].second);
    }
    return tensors;
}

}  // namespace mantissa
