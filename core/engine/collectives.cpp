#include "engine/collectives.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error_json.h"
#include "engine/engine_error.h"

namespace mantissa::collectives {
namespace {

bool is_alone(const ProcessGroup* group) { return group == nullptr || group->size() == 1; }

constexpr std::int64_t most_dimensions = 16;

/// dtype, number of dimensions, sizes: a row that has the same shape whatever it tells of.
torch::Tensor description_of(const torch::Tensor& tensor) {
    std::vector<std::int64_t> numbers{static_cast<std::int64_t>(tensor.scalar_type()), tensor.dim()};
    numbers.insert(numbers.end(), tensor.sizes().begin(), tensor.sizes().end());
    numbers.resize(2 + most_dimensions, 0);
    return torch::tensor(numbers, at::kLong).to(tensor.device());
}

std::string readable(const torch::Tensor& description) {
    const torch::Tensor row = description.cpu();
    const auto* numbers = row.const_data_ptr<std::int64_t>();
    std::string text = std::string(c10::toString(static_cast<at::ScalarType>(numbers[0]))) + " [";
    for (std::int64_t i = 0; i < std::min(numbers[1], most_dimensions); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(numbers[2 + i]);
    }
    return text + "]";
}

}  // namespace

void check_same_shape(ProcessGroup* group, const torch::Tensor& tensor, const char* operation) {
    if (is_alone(group)) return;
    const auto all = group->all_gather(description_of(tensor));
    if (std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.equal(all.front()); })) return;
    std::string what = std::string(operation) + " got tensors of different shape or dtype:";
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        what += (rank == 0 ? " process " : ", process ") + std::to_string(rank) + " " + readable(all[rank]);
    }
    throw EngineError({ErrorCode::BadPlan, what, "use pad_across_processes() first"});
}

torch::Tensor gather(ProcessGroup* group, const torch::Tensor& tensor) {
    if (is_alone(group)) return tensor;
    return torch::cat(group->all_gather(tensor.dim() == 0 ? tensor.clone().reshape({1}) : tensor.contiguous()), 0);
}

torch::Tensor reduce(ProcessGroup* group, const torch::Tensor& tensor, ReduceOperation operation, double scale) {
    torch::Tensor result = tensor.clone();
    if (is_alone(group) || operation == ReduceOperation::None) return result;
    if (operation == ReduceOperation::Mean && !result.is_floating_point() && !result.is_complex()) {
        throw EngineError({ErrorCode::BadPlan, std::string("reduce can't take the mean of ") + c10::toString(result.scalar_type()),
                           "convert it first, for example with to(torch::kFloat)"});
    }
    group->all_reduce(result, operation == ReduceOperation::Max ? ReduceOperation::Max : ReduceOperation::Sum);
    const torch::NoGradGuard no_grad;
    if (operation == ReduceOperation::Mean) result.div_(static_cast<double>(group->size()));
    if (scale != 1.0) result.mul_(scale);
    return result;
}

torch::Tensor pad(ProcessGroup* group, const torch::Tensor& tensor, std::int64_t dim, double pad_index, bool pad_first) {
    if (is_alone(group) || dim >= tensor.dim() || dim < -tensor.dim()) return tensor;
    if (dim < 0) dim += tensor.dim();
    std::int64_t largest = 0;
    for (const auto& size : group->all_gather(torch::tensor({tensor.size(dim)}, at::kLong).to(tensor.device()))) {
        largest = std::max(largest, size.item<std::int64_t>());
    }
    const std::int64_t missing = largest - tensor.size(dim);
    if (missing == 0) return tensor;
    auto sizes = tensor.sizes().vec();
    sizes[static_cast<std::size_t>(dim)] = missing;
    const torch::Tensor filling = torch::full(sizes, pad_index, tensor.options());
    return pad_first ? torch::cat({filling, tensor}, dim) : torch::cat({tensor, filling}, dim);
}

torch::Tensor broadcast(ProcessGroup* group, const torch::Tensor& tensor, std::int64_t from_rank) {
    const std::int64_t processes = group == nullptr ? 1 : group->size();
    if (from_rank < 0 || from_rank >= processes) {
        throw EngineError({ErrorCode::BadPlan,
                           "broadcast from process " + std::to_string(from_rank) + " of " + std::to_string(processes),
                           "processes count from 0"});
    }
    if (is_alone(group)) return tensor;
    torch::Tensor result = tensor.clone(at::MemoryFormat::Contiguous);
    group->broadcast(result, from_rank);
    return result;
}

std::vector<std::string> gather_bytes(ProcessGroup* group, const std::string& bytes) {
    if (is_alone(group)) return {bytes};
    const auto length = static_cast<std::int64_t>(bytes.size());
    const auto lengths = group->all_gather(torch::tensor({length}, at::kLong));
    std::int64_t longest = 0;
    for (const auto& one : lengths) longest = std::max(longest, one.item<std::int64_t>());
    torch::Tensor padded = torch::zeros({longest}, at::kByte);
    if (length > 0) std::memcpy(padded.mutable_data_ptr(), bytes.data(), bytes.size());
    std::vector<std::string> parts;
    const auto all = group->all_gather(padded);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const torch::Tensor row = all[rank].cpu().contiguous();
        parts.emplace_back(static_cast<const char*>(row.const_data_ptr()), lengths[rank].item<std::int64_t>());
    }
    return parts;
}

Result<void> agree(ProcessGroup* group, const Result<void>& own) {
    if (is_alone(group)) return own;
    using Json = nlohmann::json;
    const std::string written = own ? "" : error_to_json(own.error()).dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto all = gather_bytes(group, written);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty()) continue;
        Error error = error_from_json(Json::parse(all[rank], nullptr, false)).value_or(Error{ErrorCode::Internal, "it said nothing readable", ""});
        error.message = "process " + std::to_string(rank) + ": " + error.message;
        return error;
    }
    return {};
}

AttemptFlags agree(ProcessGroup* group, const AttemptFlags& own, torch::Device device) {
    if (is_alone(group)) return own;
    const auto number = [](bool found) { return found ? 1.0F : 0.0F; };
    torch::Tensor found =
        torch::tensor({number(own.overflow), number(own.nonfinite_loss), number(own.nonfinite_gradient)}).to(device);
    group->all_reduce(found, ReduceOperation::Max);
    const torch::Tensor agreed = found.cpu();
    const auto* any = agreed.const_data_ptr<float>();
    return {any[0] != 0, any[1] != 0, any[2] != 0};
}

}  // namespace mantissa::collectives
