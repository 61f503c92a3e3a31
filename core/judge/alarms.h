#pragma once
// What the alarms of a run (plan/alarm_entries.h) look at, and when one fires. Pure: rows in, rows out; acting on them is core/run's. An
// alarm fires once its rule was true at `steps` looks in a row, and again only after it was untrue in between.
//   headroom            bits that the largest output has left below the end of its half format; −Inf once it holds Inf
//   flush_share         share of a parameter's gradients that becomes 0 in fp16 at the scale in use, told by the values just above that limit
//   skip_streak         skipped steps in a row after the first applied one
//   scale_floor         halvings that the loss scale has left above its floor, once it fell below where it began
//   vanishing_gradient  rms of a weight's gradient over the largest one of the same step
//   dead_layer          share of an output's (or a gradient's) values that is exactly 0
//   update_share        share of a parameter's values with a gradient that an update left as they were
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "judge/format_lens.h"
#include "judge/texts.h"
#include "plan/alarm_entries.h"
#include "record/rows.h"

namespace mantissa {

struct AlarmStep {
    std::int64_t step = 0;
    bool skipped = false;
    std::optional<double> loss_scale, loss_scale_after;  // empty outside fp16
};

class AlarmJudge {
  public:
    struct Run {
        Precision mode = Precision::No;
        double scale_initial = 65536, scale_floor = 0;
    };
    AlarmJudge(std::vector<AlarmRule> rules, Run run) : m_rules(std::move(rules)), m_run(run) {}

    /// Every step once, in order.
    [[nodiscard]] std::vector<AlarmRow> look_at_step(const AlarmStep& step);
    /// The records of one step, after its look_at_step; a step's gradients come together.
    [[nodiscard]] std::vector<AlarmRow> look_at_tensors(const std::vector<TensorStatRow>& rows);

  private:
    struct Memory {
        std::int64_t in_row = 0;
        bool fired = false;
    };
    void judge(const AlarmRule& rule, std::int64_t step, const std::string& tensor, double value, bool is_true, std::vector<AlarmRow>& rows);
    void judge_tensor(const AlarmRule& rule, const TensorStatRow& row, const AlarmStep& step, double largest_rms, std::vector<AlarmRow>& rows);
    [[nodiscard]] AlarmStep step_of(std::int64_t step) const;

    std::vector<AlarmRule> m_rules;
    Run m_run;
    std::map<std::pair<AlarmKind, std::string>, Memory> m_memory;
    std::map<std::int64_t, AlarmStep> m_steps;  // the last few: records come a step later
    std::int64_t m_skips_in_row = 0;
    bool m_has_applied = false;
};

/// Share of an fp16 run's non-zero gradients that was flushed, from those that survived: values are spread evenly around the limit, and of
/// the range that rounds to the smallest subnormal a half as many again lie below. Empty: these gradients never were in fp16.
[[nodiscard]] std::optional<double> survivors_flush_share(const LensInput& gradients, double loss_scale);

/// "Headroom" …: the rule's name, what it means, and what a row says: what happened with its numbers, what to try, what was done.
[[nodiscard]] Result<std::string> alarm_name(AlarmKind kind, const TextCatalogue& texts);
[[nodiscard]] Result<std::string> alarm_meaning(AlarmKind kind, const TextCatalogue& texts);
[[nodiscard]] Result<std::string> alarm_text(const AlarmRow& row, const TextCatalogue& texts);

}  // namespace mantissa
