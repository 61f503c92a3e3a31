#include "engine/deferred_findings.h"

#include <algorithm>
#include <cmath>
#include <cmath>
#include <utility>

namespace mantissa {

double Findings::sum_of_squares() const {
    double sum = 0;
    for (const double norm : norms) sum += norm * norm;
    return sum;
}

bool Findings::is_bad() const {
    const auto is_bad_number = [](double value) { return !std::isfinite(value); };
    return std::any_of(losses.begin(), losses.end(), is_bad_number) || std::any_of(norms.begin(), norms.end(), is_bad_number);
}

torch::Tensor packed_findings(const std::vector<torch::Tensor>& losses, const std::vector<torch::Tensor>& gradients,
                              const torch::Tensor& found_inf) {
    const torch::NoGradGuard no_grad;
    const torch::Device device = gradients.empty() ? losses.empty() ? torch::Device(torch::kCPU) : losses.front().device()
                                                   : gradients.front().device();
    const auto options = torch::TensorOptions().dtype(at::kDouble).device(device);
    std::vector<torch::Tensor> parts{found_inf.defined() ? found_inf.to(options).reshape({1}) : torch::zeros({1}, options)};
    for (const auto& loss : losses) parts.push_back(loss.detach().to(options).reshape({1}));
    if (!gradients.empty()) parts.push_back(at::stack(at::_foreach_norm(gradients, 2, at::kDouble)));
    return at::cat(parts);
}

Findings unpacked_findings(const torch::Tensor& row, std::size_t losses) {
    const double* const values = row.const_data_ptr<double>();
    const double *const first_norm = values + 1 + losses, *const end = values + row.numel();
    return {values[0] != 0, {values + 1, first_norm}, {first_norm, end}};
}

torch::Tensor DeferredFindings::look(StepFacts facts, const std::vector<torch::Tensor>& losses, const std::vector<torch::Tensor>& gradients,
                                     std::vector<torch::Tensor> parameters) {
    const torch::NoGradGuard no_grad;
    const torch::Tensor row = packed_findings(losses, gradients, {});
    if (m_masks) {
        // A sum is finite when all of it is: norms aren't negative, and doubles hold the squares of all of float32.
        const torch::Tensor is_bad = row.sum().isfinite().logical_not().to(at::kFloat);
        m_mask = m_mask.defined() ? at::maximum(m_mask, is_bad) : is_bad;
    }
    facts.is_pending = true;
    m_waiting.push_back({std::move(facts), losses.size(), std::move(parameters), Readback(row), !row.is_cpu()});
    return m_mask;
}

std::vector<DeferredFindings::Arrived> DeferredFindings::take(bool all) {
    std::vector<Arrived> taken;
    // On a CPU, where only a test looks later, figures come as late as they may.
    const auto is_there = [this] { return m_waiting.front().is_on_device && m_waiting.front().row.is_there(); };
    while (!m_waiting.empty() && (all || m_waiting.size() > longest_queue || is_there())) {
        taken.push_back(arrived(m_waiting.front()));
        m_waiting.pop_front();
    }
    return taken;
}

DeferredFindings::Arrived DeferredFindings::arrived(const Waiting& waiting) {
    const Findings found = unpacked_findings(waiting.row.values(), waiting.losses);
    Arrived one{waiting.facts, {}, found.is_bad() && !m_was_bad};
    one.facts.is_pending = false;
    one.facts.take_losses(found.losses);
    one.facts.grad_norm = std::sqrt(found.sum_of_squares());
    const auto bad = std::find_if(found.norms.begin(), found.norms.end(), [](double norm) { return !std::isfinite(norm); });
    if (bad != found.norms.end()) {
        one.facts.nonfinite_grads = 1;  // at least: the gradients have made room for the next ones
        one.bad_parameter = waiting.parameters[static_cast<std::size_t>(bad - found.norms.begin())];
    }
    m_was_bad = m_was_bad || found.is_bad();
    one.facts.skipped = m_masks && m_was_bad;
    return one;
}

}  // namespace mantissa
