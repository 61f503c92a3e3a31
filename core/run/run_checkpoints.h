#pragma once
// The checkpoints of a run: RUN/checkpoints/checkpoint_<steps done>, each with the run's plan.json. A save that fails is told in
// the recording and ends nothing. Thread: the one that trains.
#include <cstdint>
#include <filesystem>
#include <string>

#include "host/engine_api.h"
#include "run/run_parts.h"

namespace mantissa {

/// The run's plan.json, with the sources of its settings, where the run has one.
Result<void> write_run_plan(const RunFolder& run, const RunPlan& plan, const std::filesystem::path& file);

class RunCheckpoints {
  public:
    RunCheckpoints(const RunPlan& plan, RunParts& parts, RunSession& session);
    ~RunCheckpoints() { m_plan_hook.remove(); }
    RunCheckpoints(const RunCheckpoints&) = delete;
    RunCheckpoints& operator=(const RunCheckpoints&) = delete;

    [[nodiscard]] bool is_due(std::int64_t steps_done) const {
        return m_plan.checkpoint.every > 0 && steps_done % m_plan.checkpoint.every == 0;
    }
    /// What follows after so many attempts, unless it is saved already; then the oldest go that `keep` doesn't hold.
    void save(std::int64_t steps_done);

  private:
    void tell_failure(std::int64_t steps_done, const std::string& why);

    const RunPlan& m_plan;
    RunParts& m_parts;
    RunSession& m_session;
    HookHandle m_plan_hook;  // every checkpoint gets the plan before it is whole
    std::int64_t m_saved_at = -1;
};

}  // namespace mantissa
