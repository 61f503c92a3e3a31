#pragma once
// The tables of the page, from plain values: ops and their dtypes, weights that don't move, local errors, and the table twins of the
// heat map, the histogram and the curve. Pure functions; words in the window's language.
#include <optional>

#include "record/linear_layers.h"
#include "ui/numerics/histogram_view.h"
#include "ui/numerics/run_numbers.h"
#include "ui/numerics/value_table.h"

namespace mantissa::ui {

/// Calls of one op by the dtype of its results, in the watched step.
struct OpCounts {
    std::string phase, op;
    std::int64_t fp8 = 0, fp16 = 0, bf16 = 0, fp32 = 0, other = 0, casts = 0, castBytes = 0;
};
/// In the order of their first call in the step; the first entry is the sum over all.
[[nodiscard]] std::vector<OpCounts> countOps(const std::vector<OpDtypeRow>& rows);

/// Of one mode; with `other` each figure says what that mode has more or less.
[[nodiscard]] ValueTable opTable(const std::vector<OpDtypeRow>& rows, const std::vector<OpDtypeRow>* other);
/// "41 of 58 calls gave half results …", empty without rows. In fp8 also the linear layers that stay in bf16, and why.
[[nodiscard]] QString opSentence(const std::vector<OpDtypeRow>& rows, const QString& mode, const std::vector<LinearLayer>& layers = {});

[[nodiscard]] ValueTable updateTable(const RunFacts& run);
[[nodiscard]] ValueTable localErrorTable(const RunFacts& run);
/// One row per tensor and recorded step that has a value.
[[nodiscard]] ValueTable heatTable(const TensorHeat& heat, HeatQuantity quantity, NumberFormat format);
[[nodiscard]] ValueTable histogramTable(const ExponentShares& shares, NumberFormat format, int log2Scale);
[[nodiscard]] ValueTable curveTable(const std::array<LensCurve, 4>& curves);

}  // namespace mantissa::ui
