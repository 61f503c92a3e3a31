#include "engine/gradient_sync.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "engine/collectives.h"
#include "engine/engine_error.h"

namespace mantissa {
namespace {

class AveragedAfterwards : public GradientSync {
  public:
    AveragedAfterwards(ProcessGroup& group, std::vector<torch::Tensor> parameters)
        : m_group(group), m_parameters(std::move(parameters)) {}

    void before_backward(const torch::Tensor& /*root*/) override {}
    void after_backward() override {
        const torch::NoGradGuard no_grad;
        torch::Tensor reached = torch::zeros({static_cast<std::int64_t>(m_parameters.size())});
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            if (m_parameters[i].grad().defined()) reached[static_cast<std::int64_t>(i)] = 1;
        }
        m_group.all_reduce(reached, ReduceOperation::Max);
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            if (reached[static_cast<std::int64_t>(i)].item<float>() == 0) continue;
            torch::Tensor& gradient = m_parameters[i].mutable_grad();
            if (!gradient.defined()) gradient = torch::zeros_like(m_parameters[i]);
            m_group.all_reduce(gradient, ReduceOperation::Sum);
            gradient.div_(static_cast<double>(m_group.size()));
        }
    }

  private:
    ProcessGroup& m_group;
    std::vector<torch::Tensor> m_parameters;
};

std::string described(const char* kind, const std::string& name, const torch::Tensor& tensor) {
    std::ostringstream text;
    text << kind << ' ' << name << ' ' << c10::toString(tensor.scalar_type()) << ' ' << tensor.sizes();
    return text.str();
}

std::string first_difference(const std::string& ours, const std::string& theirs) {
    std::istringstream left(ours), right(theirs);
    std::string a, b;
    while (true) {
        const bool has_left = static_cast<bool>(std::getline(left, a)), has_right = static_cast<bool>(std::getline(right, b));
        if (!has_left && !has_right) return "";
        if (!has_left) return "nothing more, but " + b;
        if (!has_right) return a + ", but nothing more";
        if (a != b) return a + ", but " + b;
    }
}

}  // namespace

std::unique_ptr<GradientSync> ProcessGroup::average_gradients(const std::vector<torch::Tensor>& parameters) {
    return std::make_unique<AveragedAfterwards>(*this, parameters);
}

void broadcast_together(ProcessGroup& group, const std::vector<torch::Tensor>& tensors, std::int64_t from_rank) {
    if (group.size() == 1) return;
    const torch::NoGradGuard no_grad;
    std::map<std::pair<at::ScalarType, std::string>, std::vector<torch::Tensor>> alike;
    for (const torch::Tensor& one : tensors) {
        if (one.numel() > 0) alike[{one.scalar_type(), one.device().str()}].push_back(one);
    }
    for (const auto& [kind, members] : alike) {
        std::vector<torch::Tensor> flat;
        for (const torch::Tensor& one : members) flat.push_back(one.detach().reshape({-1}));
        torch::Tensor together = torch::cat(flat);
        group.broadcast(together, from_rank);
        if (group.rank() == from_rank) continue;
        std::int64_t begin = 0;
        for (const torch::Tensor& one : members) {
            torch::Tensor target = one.detach();
            target.copy_(together.slice(0, begin, begin + one.numel()).reshape(one.sizes()));
            begin += one.numel();
        }
    }
}

void make_equal(ProcessGroup& group, const torch::nn::Module& module) {
    std::string text;
    std::vector<torch::Tensor> all;
    for (const auto& entry : module.named_parameters()) {
        text += described("weight", entry.key(), entry.value()) + "\n";
        all.push_back(entry.value());
    }
    for (const auto& entry : module.named_buffers()) {
        text += described("buffer", entry.key(), entry.value()) + "\n";
        all.push_back(entry.value());
    }
    refuse_differences(group, text, "the processes prepared different models",
                       "build the same model in every process: only its numbers are sent over");
    broadcast_together(group, all, 0);
}

void refuse_differences(ProcessGroup& group, const std::string& text, const char* what, const char* advice) {
    const std::vector<std::string> all = collectives::gather_bytes(&group, text);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] == all.front()) continue;
        throw EngineError({ErrorCode::BadPlan,
                           std::string(what) + ": process 0 has " + first_difference(all.front(), all[rank]) + " in process " +
                               std::to_string(rank),
                           advice});
    }
}

}  // namespace mantissa
