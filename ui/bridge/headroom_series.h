#pragma once
// Bits that the worst output of a run has left below the end of its format, at the steps whose tensors were recorded: a short series of its
// own, for the same charts. The dtype of a row decides what it is measured against, so that an fp32 island beside fp16 is never told by
// fp16's end; of mode no it is fp16's for all, since the control shows what fp16 would meet. Window's thread only.
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
        std::string tensor;  // empty: no row yet
        double largest = 0;
        double bits = 0;
        bool isInfinite = false;
    };
    /// Of one step.
    struct Open {
        Worst asFp16;   // every output, by fp16's end
        Worst byDtype;  // those in half or less, each by its own end
    };
    static void take(Worst& worst, const TensorStatRow& row, double limit);

    std::map<std::int64_t, Open> m_open;  // steps that may still get rows
    RunSeries m_series;
    std::string m_worst;
};

}  // namespace mantissa::ui
