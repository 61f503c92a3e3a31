#pragma once
// What a terminal shows while runs go on: one bar per run, redrawn in place; elsewhere a line per event and
// one every ten seconds.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "record/rows.h"

namespace mantissa::cli {

struct RunProgress {
    Precision mode = Precision::No;
    RunState state = RunState::Queued;
    std::string reason;
    std::int64_t steps = 0, planned_steps = 0, skipped = 0;
    std::optional<double> loss, metric;
    std::optional<std::int64_t> first_nonfinite_step;
    std::string metric_name;
    std::string stall;  // "no progress for 34 s at step 41"; empty while it moves
};

class ProgressView {
  public:
    enum class Style { Bars, Lines, Silent };
    explicit ProgressView(Style style);
    ~ProgressView();  // leaves the cursor below the bars
    ProgressView(const ProgressView&) = delete;
    ProgressView& operator=(const ProgressView&) = delete;

    void update(const std::vector<RunProgress>& runs);
    /// A log line; bars stay below it.
    void line(const std::string& text);

  private:
    void draw_bars();
    void clear_bars();
    void report_events(const std::vector<RunProgress>& runs);

    Style m_style;
    std::vector<RunProgress> m_runs;
    std::size_t m_drawn_lines = 0;
    std::int64_t m_last_draw_ns = 0, m_last_report_ns = 0;
};

/// How a run stands, in a line: "143/300  loss 0.412  3 skipped".
[[nodiscard]] std::string progress_text(const RunProgress& run);

}  // namespace mantissa::cli
