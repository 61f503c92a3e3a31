#pragma once
// The supervisor's event loop: trials, then workers in the order asked for, then the finishing hook. One
// thread. Internal.
#include <filesystem>
#include <optional>
#include <vector>

#include "launch/control_server.h"
#include "launch/managed_run.h"
#include "launch/supervisor.h"
#include "launch/trial_process.h"
#include "launch/turns.h"
#include "record/comparison_record.h"

namespace mantissa {

class SupervisorLoop {
  public:
    SupervisorLoop(PreparedJob job, RunPlan plan, const SupervisorHooks& hooks);
    ~SupervisorLoop();
    /// Everything up to listening; the caller then tells its starter.
    Result<void> open();
    int run();

  private:
    void wait_for_events();
    void take_signals();
    void reap_workers();
    void advance_trials();
    void take_trial(const TrialOutcome& outcome);
    void decide_order();
    void start_runs();
    void start_next_replica();
    void let_turns_begin();
    void finish();
    [[nodiscard]] bool all_ended() const;
    [[nodiscard]] bool any_running() const;
    [[nodiscard]] bool modes_ended() const;
    [[nodiscard]] std::string final_state() const;
    [[nodiscard]] int exit_code_of_job() const;
    [[nodiscard]] bool is_comparison() const { return m_job.kind == JobKind::Comparison; }
    void save_comparison();
    void write_control_files() const;
    void remove_control_files() const;
    Result<std::string> command(const std::string& name, const std::string& run);
    std::vector<RunStatus> status(std::string& phase);

    PreparedJob m_job;
    RunPlan m_plan;
    const SupervisorHooks& m_hooks;
    std::vector<ManagedRun> m_runs;
    std::optional<ComparisonRecord> m_record;
    std::optional<ControlServer> m_server;
    std::optional<TrialProcess> m_trial;
    std::vector<TrialOutcome> m_outcomes;
    std::size_t m_next_trial = 0;
    std::optional<TurnHold> m_turn_hold;  // until all runs stand at their first step
    bool m_trials_done = false, m_is_finishing = false;
    int m_signals = -1, m_lock = -1;
    std::int64_t m_published_ns = 0, m_hold_started_ns = 0;
};

}  // namespace mantissa
