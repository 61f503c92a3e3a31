#include "ui/bridge/headroom_series.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "judge/format_lens.h"

namespace mantissa::ui {

/// An Inf is past the end; nothing but zeros leaves all there is.
void HeadroomSeries::take(Worst& worst, const TensorStatRow& row, double limit) {
    const bool isInfinite = row.pos_inf + row.neg_inf > 0;
    const double bits = isInfinite ? 0 : std::log2(limit / std::max(row.largest, 0x1p-149));
    if (worst.tensor.empty() || std::tuple(!isInfinite, bits, -row.largest) < std::tuple(!worst.isInfinite, worst.bits, -worst.largest)) {
        worst = {row.tensor, row.largest, bits, isInfinite};
    }
}

void HeadroomSeries::append(const std::vector<TensorStatRow>& rows) {
    for (const TensorStatRow& row : rows) {
        if (row.role != TensorRole::Output) {
            continue;
        }
        Open& open = m_open[row.step];
        take(open.asFp16, row, limits_of(NumberFormat::Fp16).largest);
        if (const NumberFormat format = format_of_dtype(row.dtype); format != NumberFormat::Fp32) {
            take(open.byDtype, row, limits_of(format).largest);
        }
    }
}

void HeadroomSeries::update(const RunSeries& steps, Precision mode, bool hasEnded) {
    while (!m_open.empty() && !steps.isEmpty()) {
        const auto& [step, open] = *m_open.begin();
        const auto index = steps.indexOfStep(step);
        if (!index || (steps.steps().back() <= step && !hasEnded)) {
            break;  // its own row, or more of its tensors, are still to come
        }
        // A half mode's step with fp32 outputs alone has nothing to tell.
        if (const Worst& worst = mode == Precision::No ? open.asFp16 : open.byDtype; !worst.tensor.empty()) {
            m_series.appendValue(steps, *index, Quantity::Headroom, worst.bits);
            m_worst = worst.tensor;
        }
        m_open.erase(m_open.begin());
    }
}

}  // namespace mantissa::ui
