#include "run/birth_search.h"

namespace mantissa {
namespace {

/// Batch norm moves its statistics once more: they go back.
class BuffersBack {
  public:
    explicit BuffersBack(const Model& model) : m_buffers(model.buffers()) {
        for (const torch::Tensor& buffer : m_buffers) m_saved.push_back(buffer.clone());
    }
    ~BuffersBack() {
        const torch::NoGradGuard no_grad;
        for (std::size_t i = 0; i < m_saved.size(); ++i) m_buffers[i].copy_(m_saved[i]);
    }
    BuffersBack(const BuffersBack&) = delete;
    BuffersBack& operator=(const BuffersBack&) = delete;

  private:
    std::vector<torch::Tensor> m_buffers, m_saved;
};

}  // namespace

std::optional<BirthReport> find_birth(RunParts& parts, const TrainingPlan& plan, const Batch& batch) {
    Model& model = parts.bare_model();
    const BuffersBack buffers(model);
    BirthFinder finder;
    finder.name_tensors_of(model);
    finder.name(batch.features, "features", "data");
    torch::Tensor loss;
    {
        const AutocastScope autocast = parts.accelerator.autocast();
        const torch::Tensor output = to_fp32_output(model.forward(batch.features));
        finder.set_phase("loss");
        loss = parts.loss(output, batch.labels);
    }
    if (auto cause = finder.cause_of(loss)) return cause;
    const double share = plan.loss_factor / static_cast<double>(plan.gradient_accumulation_steps);
    const auto gradients =
        torch::autograd::grad({loss * share}, model.parameters(), {}, std::nullopt, false, /*allow_unused=*/true);
    for (const torch::Tensor& gradient : gradients) {
        if (auto cause = finder.cause_of(gradient)) return cause;
    }
    return std::nullopt;
}

}  // namespace mantissa
