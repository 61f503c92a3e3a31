#pragma once
// Bits that the worst output of a run has left below the end of its format, at the steps whose tensors were recorded: a short series of its
// own, for the same charts. Window's thread only.
#include <map>
#include <string>
#include <vector>

#include "base/precision.h"
#include "ui/bridge/run_series.h"

namespace mantissa::ui {

class HeadroomSeries {
  public:
    /// Outputs count; the rows of one step may come in pieces.
    void append(const std::vector<TensorStatRow>& rows);
    /// Takes over the steps that are complete: `steps` is further, or the run has ended.
    void update(const RunSeries& steps, Precision mode, bool hasEnded);

    [[nodiscard]] const RunSeries& series() const { return m_series; }
    /// At the last recorded step; empty before the first.
    [[nodiscard]] const std::string& worstTensor() const { return m_worst; }

  private:
    struct Worst {
        std::string tensor;
        double largest = 0;
        bool isInfinite = false;
    };
    std::map<std::int64_t, Worst> m_open;  // steps that may still get rows
    RunSeries m_series;
    std::string m_worst;
};

/// The format that headroom is told for: the mode's own; of `no` that of fp16, since the control shows what fp16 would meet.
[[nodiscard]] Precision headroomFormat(Precision mode);

}  // namespace mantissa::ui
