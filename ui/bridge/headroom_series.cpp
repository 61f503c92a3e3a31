#include "ui/bridge/headroom_series.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {

Precision headroomFormat(Precision mode) { return mode == Precision::No ? Precision::Fp16 : mode; }

void HeadroomSeries::append(const std::vector<TensorStatRow>& rows) {
    for (const TensorStatRow& row : rows) {
        if (row.role != TensorRole::Output) {
            continue;
        }
        Worst& worst = m_open[row.step];
        const bool isInfinite = row.pos_inf + row.neg_inf > 0;
        if (worst.tensor.empty() || std::pair(isInfinite, row.largest) > std::pair(worst.isInfinite, worst.largest)) {
            worst = {row.tensor, row.largest, isInfinite};
        }
    }
}

void HeadroomSeries::update(const RunSeries& steps, Precision mode, bool hasEnded) {
    const double limit = largest_finite(headroomFormat(mode));
    while (!m_open.empty() && !steps.isEmpty()) {
        const auto& [step, worst] = *m_open.begin();
        const auto index = steps.indexOfStep(step);
        if (!index || (steps.steps().back() <= step && !hasEnded)) {
            break;  // its own row, or more of its tensors, are still to come
        }
        // An Inf is past the end; nothing but zeros leaves all there is.
        const double bits = worst.isInfinite ? 0 : std::log2(limit / std::max(worst.largest, 0x1p-149));
        m_series.appendValue(steps, *index, Quantity::Headroom, bits);
        m_worst = worst.tensor;
        m_open.erase(m_open.begin());
    }
}

}  // namespace mantissa::ui
