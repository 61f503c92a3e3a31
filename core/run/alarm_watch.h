#pragma once
// Judges every step and every tensor record of the run by the plan's alarms (judge/alarms.h), records what fired, and does what the rule
// says: pause, stop and checkpoint at the next step edge, watch = level 2 from there on. Records come a step later, so an alarm stands at
// the step that it is about and acts up to a step after it. Thread: the one that trains; its records come through the recorder.
#include <vector>

#include "judge/alarms.h"
#include "run/loop_watch.h"

namespace mantissa {

class AlarmWatch : public LoopWatch {
  public:
    explicit AlarmWatch(const LoopContext& context);
    ~AlarmWatch() override;
    AlarmWatch(const AlarmWatch&) = delete;
    AlarmWatch& operator=(const AlarmWatch&) = delete;

    void after_step(const StepOutcome& outcome, const std::vector<Batch>& micro_batches) override;
    void at_end() override;

  private:
    void look_at_records(std::int64_t before_step);
    void take(const std::vector<AlarmRow>& rows, bool may_act);
    void act(const AlarmRow& row);

    RunSession& m_session;
    std::string& m_halt_reason;
    AlarmJudge m_judge;
    std::vector<TensorStatRow> m_records;  // not yet judged
};

}  // namespace mantissa
