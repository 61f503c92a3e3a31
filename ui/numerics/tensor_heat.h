#pragma once
// Layers × steps as values: what the heat map shows of every record of one role of one run, without the histograms, so that a long run
// stays small. Columns are recorded steps; beyond `mostColumns` neighbours are merged, and the worse of two always wins, so that no
// non-finite step is ever lost. No Qt, no thread of its own.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/format_lens.h"

namespace mantissa::ui {

/// The formats of the page, in the order of its choices.
inline constexpr std::array<NumberFormat, 4> lensFormats{NumberFormat::Fp16, NumberFormat::Bf16, NumberFormat::E4m3fn,
                                                         NumberFormat::E5m2};
[[nodiscard]] std::size_t lensIndex(NumberFormat format);

enum class HeatQuantity { Headroom, FlushShare, Sqnr, NonfiniteShare, UnmovedShare };
inline constexpr std::array<HeatQuantity, 5> allHeatQuantities{HeatQuantity::Headroom, HeatQuantity::FlushShare, HeatQuantity::Sqnr,
                                                               HeatQuantity::NonfiniteShare, HeatQuantity::UnmovedShare};
/// Which way is bad: little headroom and a low SQNR, large shares.
[[nodiscard]] bool isWorse(HeatQuantity quantity, double value, double other);

struct HeatCell {
    std::int64_t step = 0;   // of a merged column: the step of its worst value
    double lossScale = 1;    // that the lens looked through: the scaler's at that step for gradients, else 1
    double nonfinite = 0;    // share of elements
    std::optional<double> unmoved;
    std::optional<double> largest;  // finite magnitude, unscaled; empty when no value is finite and not 0
    std::array<std::optional<double>, 4> flush, sqnrDb;  // by lensFormats; empty without a histogram
};

struct HeatColumn {
    std::int64_t first = 0, last = 0;  // steps
};

class TensorHeat {
  public:
    static constexpr std::size_t mostColumns = 1024;  // even

    /// Rows come in the order of steps. `lossScale`: the lens looks at the values times this.
    void add(const TensorStatRow& row, double lossScale);

    [[nodiscard]] bool isEmpty() const { return m_columns.empty(); }
    [[nodiscard]] const std::vector<std::string>& tensors() const { return m_tensors; }  // in the order of their first record
    [[nodiscard]] const std::vector<HeatColumn>& columns() const { return m_columns; }
    /// Null where nothing was recorded.
    [[nodiscard]] const HeatCell* cell(std::size_t tensor, std::size_t column) const;
    [[nodiscard]] std::optional<double> value(std::size_t tensor, std::size_t column, HeatQuantity quantity, NumberFormat format) const;
    [[nodiscard]] std::optional<std::size_t> indexOf(const std::string& tensor) const;
    /// The column that holds a step, else the nearest one before it.
    [[nodiscard]] std::optional<std::size_t> columnOf(std::int64_t step) const;
    /// Dtypes in the order of their first record ("float16"): whether the values already lie in a format.
    [[nodiscard]] const std::vector<std::string>& dtypes() const { return m_dtypes; }

  private:
    void mergeNeighbours();

    std::vector<std::string> m_tensors, m_dtypes;
    std::map<std::string, std::size_t> m_index;
    std::vector<HeatColumn> m_columns;
    std::vector<std::vector<std::optional<HeatCell>>> m_cells;  // [tensor][column]; shorter rows end in nothing
    std::int64_t m_stepsPerColumn = 1;
    std::int64_t m_inLast = 0;  // recorded steps in the last column
};

[[nodiscard]] std::optional<double> heatValue(const HeatCell& cell, HeatQuantity quantity, NumberFormat format);

}  // namespace mantissa::ui
