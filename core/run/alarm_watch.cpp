#include "run/alarm_watch.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace mantissa {
namespace {

/// Validated with the plan; what can't be read any more raises no alarm.
std::vector<AlarmRule> rules_of(const RunPlan& plan) {
    auto rules = parse_alarms(plan.observe.alarms);
    return rules ? std::move(rules).value() : std::vector<AlarmRule>{};
}

}  // namespace

AlarmWatch::AlarmWatch(const LoopContext& context)
    : m_session(context.session),
      m_halt_reason(context.halt_reason),
      m_judge(rules_of(context.plan), {context.plan.mixed_precision, context.plan.loss_scale.initial, context.plan.loss_scale.floor}) {
    m_session.recorder.on_tensor_stat([this](const TensorStatRow& row) { m_records.push_back(row); });
}

AlarmWatch::~AlarmWatch() {
    m_session.recorder.on_tensor_stat({});
}

void AlarmWatch::after_step(const StepOutcome& outcome, const std::vector<Batch>& /*micro_batches*/) {
    const StepFacts& facts = outcome.facts;
    take(m_judge.look_at_step({facts.step, facts.skipped, facts.loss_scale, facts.loss_scale_after}), true);
    // Records of this step may still come in pieces.
    look_at_records(facts.step);
}

void AlarmWatch::at_end() {
    look_at_records(std::numeric_limits<std::int64_t>::max());
}

void AlarmWatch::look_at_records(std::int64_t before_step) {
    const bool may_act = before_step != std::numeric_limits<std::int64_t>::max();
    const auto later = std::stable_partition(m_records.begin(), m_records.end(),
                                             [before_step](const TensorStatRow& row) { return row.step < before_step; });
    std::vector<TensorStatRow> ready(std::make_move_iterator(m_records.begin()), std::make_move_iterator(later));
    m_records.erase(m_records.begin(), later);
    std::stable_sort(ready.begin(), ready.end(), [](const auto& left, const auto& right) { return left.step < right.step; });
    for (auto from = ready.begin(); from != ready.end();) {
        const auto to = std::find_if(from, ready.end(), [&](const TensorStatRow& row) { return row.step != from->step; });
        take(m_judge.look_at_tensors({std::make_move_iterator(from), std::make_move_iterator(to)}), may_act);
        from = to;
    }
}

void AlarmWatch::take(const std::vector<AlarmRow>& rows, bool may_act) {
    for (const AlarmRow& row : rows) {
        m_session.recorder.alarm(row);
        if (may_act) act(row);
    }
}

void AlarmWatch::act(const AlarmRow& row) {
    if (row.action == to_string(AlarmAction::Checkpoint)) return m_session.control.post(ControlCommand::Checkpoint);
    if (row.action == to_string(AlarmAction::Watch)) return m_session.control.post(ControlCommand::Watch2);
    const bool is_stop = row.action == to_string(AlarmAction::Stop);
    if (!is_stop && row.action != to_string(AlarmAction::Pause)) return;
    m_halt_reason = "alarm " + row.rule + (row.tensor.empty() ? "" : " on " + row.tensor) + " at step " + std::to_string(row.step);
    m_session.control.post(is_stop ? ControlCommand::Stop : ControlCommand::Pause);
}

}  // namespace mantissa
