#include "run/evaluator.h"

#include <algorithm>

#include "engine/gradient_sync.h"

namespace mantissa {
namespace {

constexpr std::int64_t samples_at_once = 512;

}  // namespace

Evaluator::Evaluator(RunParts& parts, const RunPlan& plan)
    : m_parts(parts), m_plan(plan.evaluation), m_mode(plan.mixed_precision) {
    const bool training = plan.evaluation.split == EvaluationSplit::Training;
    m_indices = training ? parts.split.training : parts.split.validation;
    m_split = training ? "training" : "validation";
}

bool Evaluator::is_due(std::int64_t steps_done) const {
    return has_samples() && m_plan.every > 0 && steps_done % m_plan.every == 0;
}

std::vector<EvaluationRow> Evaluator::evaluate(std::int64_t steps_done, const RunControl* control) {
    std::vector<EvaluationRow> rows;
    if (!has_samples()) return rows;
    m_parts.bare_model().eval();
    for (const bool autocast : {false, true}) {
        if (autocast && (m_plan.precision == EvaluationPrecision::Fp32 || m_mode == Precision::No)) continue;
        if (!autocast && m_plan.precision == EvaluationPrecision::Autocast && m_mode != Precision::No)
            continue;
        const std::optional<Totals> totals = pass(autocast, control);
        if (!totals) break;
        const std::int64_t samples = m_indices.size(0);
        const char* precision = autocast ? to_string(m_mode) : "fp32";
        if (m_parts.dataset.target != SampleTarget::Values) {
            // Of tokens each is told right or wrong.
            const std::int64_t told = m_parts.dataset.labels.numel() / m_parts.dataset.samples() * samples;
            rows.push_back({steps_done, m_split, "accuracy", static_cast<double>(totals->right) / static_cast<double>(told), precision, samples});
        }
        rows.push_back(
            {steps_done, m_split, "loss", totals->loss / static_cast<double>(samples), precision, samples});
    }
    m_parts.bare_model().train();
    return rows;
}

std::optional<Evaluator::Totals> Evaluator::pass(bool autocast, const RunControl* control) {
    const torch::NoGradGuard no_grad;
    Totals totals;
    const Ranks* ranks = m_parts.ranks.get();
    if (ranks != nullptr) {
        control = nullptr;  // a pass that one process left would hold the others
        broadcast_together(*ranks->group(), m_parts.bare_model().buffers(), 0);
    }
    const std::int64_t processes = ranks != nullptr ? ranks->group()->size() : 1, rank = ranks != nullptr ? ranks->group()->rank() : 0;
    const std::int64_t all = m_indices.size(0), first = all * rank / processes, end = all * (rank + 1) / processes;
    for (std::int64_t start = first; start < end; start += samples_at_once) {
        if (control != nullptr && control->is_ending()) return std::nullopt;
        const torch::Tensor indices = m_indices.slice(0, start, std::min(start + samples_at_once, end));
        const torch::Device device = m_parts.accelerator.device();
        const torch::Tensor features = m_parts.dataset.features.index_select(0, indices).to(device);
        const torch::Tensor labels = m_parts.dataset.labels.index_select(0, indices).to(device);
        torch::Tensor output;
        if (autocast) {
            const AutocastScope scope = m_parts.accelerator.autocast();
            output = m_parts.bare_model().forward(features).to(torch::kFloat);
        } else {
            output = m_parts.bare_model().forward(features);
        }
        totals.loss += m_parts.loss(output, labels).item<double>() * static_cast<double>(labels.size(0));
        // A row with NaN has no largest class: it counts as wrong, whatever argmax says.
        if (labels.is_floating_point()) continue;
        const torch::Tensor right = output.argmax(-1).eq(labels).logical_and(output.isnan().any(-1).logical_not());
        totals.right += right.sum().item<std::int64_t>();
    }
    if (ranks != nullptr) {
        std::vector<double> sums{totals.loss, static_cast<double>(totals.right)};
        ranks->add_up(sums);
        totals = {sums[0], static_cast<std::int64_t>(sums[1])};
    }
    return totals;
}

}  // namespace mantissa
