#include "judge/control_health.h"

#include <algorithm>
#include <cmath>

namespace mantissa {
namespace {

using Rows = std::vector<StepRow>::const_iterator;

double median_norm(Rows begin, Rows end) {
    std::vector<double> norms;
    for (auto row = begin; row != end; ++row) norms.push_back(row->grad_norm);
    const auto middle = norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2);
    std::nth_element(norms.begin(), middle, norms.end());
    if (norms.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(norms.begin(), middle)) / 2;
}

}  // namespace

ControlHealth control_health(const std::vector<StepRow>& steps, std::optional<std::int64_t> until) {
    ControlHealth health;
    const auto begin = steps.begin();
    auto end = begin;
    while (end != steps.end() && (!until || end->step <= *until)) ++end;
    // Growth is read off the finite part: what led to the first bad value is the question.
    const auto bad = std::find_if(begin, end, [](const StepRow& row) {
        return row.nonfinite_loss || !std::isfinite(row.loss) || !std::isfinite(row.grad_norm);
    });
    health.steps = end - begin;
    health.finite = bad == end;
    if (end != begin) health.last_step = (end - 1)->step;
    if (bad == begin) return health;

    const auto window = static_cast<std::ptrdiff_t>(ControlHealth::window);
    const auto recent = bad - begin > window ? bad - window : begin;
    double largest = 0;
    for (auto row = recent; row != bad; ++row) largest = std::max(largest, std::abs(row->loss));
    if (begin->loss != 0) health.loss_growth = largest / std::abs(begin->loss);
    if (bad - begin >= 2 * window) {
        const double before = median_norm(bad - 2 * window, bad - window);
        if (before > 0) health.norm_growth = median_norm(bad - window, bad) / before;
    }
    return health;
}

}  // namespace mantissa
