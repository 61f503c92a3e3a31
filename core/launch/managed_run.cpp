#include "launch/managed_run.h"

#include <sys/wait.h>

#include <csignal>

#include "base/log.h"
#include "host/run_control.h"
#include "launch/child_process.h"
#include "launch/oom_kills.h"
#include "launch/run_files.h"
#include "launch/worker_environment.h"
#include "record/rank_file.h"

namespace mantissa {

namespace {

/// Where a rank stood: its own word is newer than the last row that reached the disk.
std::string at_step(const RunFolder& folder, std::int64_t rank, std::int64_t recorded_steps) {
    const std::string recorded = recorded_steps > 0 ? "at step " + std::to_string(recorded_steps - 1) : "before its first step";
    for (const RankLife& life : read_lives(folder.path)) {
        if (life.rank != rank) continue;
        return " " + life.where() + (rank == 0 && life.where() != recorded && recorded_steps > 0 ? " (recorded " + recorded + ")" : "");
    }
    return " " + recorded;
}

}  // namespace

RunStatus ManagedRun::status() {
    m_watch.look();
    return {mode(),
            m_run.folder.path.string(),
            has_ended() ? to_string(m_end_state) : m_watch.state,
            has_ended() ? m_end_reason : m_watch.reason,
            m_watch.steps,
            is_running()};
}

void ManagedRun::mark_trial() {
    if (const auto written =
            launch_files::write_state(m_run.folder, RunState::Trial, "one batch in a throw-away process");
        !written) {
        log::warning(mode() + ": " + describe(written.error()));
    }
}

Result<void> ManagedRun::start(const RunPlan& plan, const std::filesystem::path& comparison_folder,
                               std::size_t slot) {
    WorkerGroup::Settings settings;
    if (plan.launch.scope == LaunchScope::Ranks) settings.processes = plan.launch.processes;
    settings.environment = numeric_environment(plan.launch.threads);
    settings.main_environment.emplace_back(worker_environment::first_commands, m_first_commands);
    if (!comparison_folder.empty()) {
        settings.main_environment.emplace_back(worker_environment::turn_folder, comparison_folder.string());
        settings.main_environment.emplace_back(worker_environment::turn_slot, std::to_string(slot));
    }
    if (const auto started = m_workers.start(m_run.folder, m_claim, settings); !started) {
        end_unstarted(RunState::Failed, describe(started.error()), mantissa::exit_code(started.error().code));
        return started;
    }
    m_phase = Phase::Running;
    m_oom_kills_before = oom_kills();
    log::info(mode() + ": started");
    return {};
}

bool ManagedRun::look_for_end() {
    const bool has_ranks = m_workers.size() > 1;
    end_if_hung();
    const auto ended = m_workers.poll();
    if (!ended) return false;
    workers_ended(*ended, has_ranks);
    return true;
}

void ManagedRun::end_if_hung() {
    switch (m_hung.look(m_run.folder)) {
        case HungRun::Act::None: return;
        case HungRun::Act::Terminate:
            log::warning(mode() + ": asked to end, and no progress: SIGTERM");
            return m_workers.ask_all();
        case HungRun::Act::Kill:
            log::warning(mode() + ": " + m_hung.said());
            return m_workers.kill_all();
    }
}

void ManagedRun::workers_ended(const WorkerGroup::End& ended, bool has_ranks) {
    // The claim is still ours, so no reader can call the run lost before the reason stands there.
    const auto recorded = launch_files::read_recorded(m_run.folder);
    const std::string at = at_step(m_run.folder, ended.rank, recorded.steps);
    const bool by_signal = WIFSIGNALED(ended.wait_status);
    const std::string who = has_ranks ? "rank " + std::to_string(ended.rank) + " " : "";
    // What the main process says of its end holds, unless another one drew it along.
    if (ended.rank == 0 && recorded.last_state && is_end_state(recorded.last_state->state)) {
        const int code =
            by_signal ? launch_files::exit_code_of(recorded.last_state->state) : WEXITSTATUS(ended.wait_status);
        if (by_signal)
            log::warning(mode() + ": its end was recorded, then it was " + describe_wait_status(ended.wait_status));
        end(recorded.last_state->state, recorded.last_state->reason, code, true);
    } else if (m_aborted) {
        end(RunState::Interrupted, "aborted" + at + ": the worker was killed on command", mantissa::exit_code(ErrorCode::Interrupted), false);
    } else if (!m_hung.said().empty()) {
        end(RunState::Interrupted, m_hung.said(), mantissa::exit_code(ErrorCode::Interrupted), false);
    } else if (by_signal) {
        lost_by_signal(ended, has_ranks, at);
    } else {
        const int code = WEXITSTATUS(ended.wait_status);
        const std::string log_name = rank_log("", ended.rank).string();
        const std::string reason = !ended.last_words.empty()
                                       ? (has_ranks && ended.rank != 0 ? who + "failed" + at + ": " : "") +
                                             ended.last_words
                                       : (has_ranks ? who : "the worker ") + describe_wait_status(ended.wait_status) +
                                             at + " without an end state; its words are in " + log_name;
        end(RunState::Failed, reason, code == 0 ? mantissa::exit_code(ErrorCode::Internal) : code, false);
    }
}

void ManagedRun::lost_by_signal(const WorkerGroup::End& ended, bool has_ranks, const std::string& at) {
    const std::string who = has_ranks ? "rank " + std::to_string(ended.rank) + " was " : "";
    const bool may_be_memory = WTERMSIG(ended.wait_status) == SIGKILL;
    end(RunState::Lost,
        who + describe_wait_status(ended.wait_status) + at + (may_be_memory ? told_oom(m_oom_kills_before, oom_kills()) : "") +
            (has_ranks ? "; the other ranks were ended" : ""),
        mantissa::exit_code(ErrorCode::WorkerLost), false);
}

void ManagedRun::end_unstarted(RunState state, const std::string& reason, int exit_code) {
    end(state, reason, exit_code, false);
}

void ManagedRun::end(RunState state, const std::string& reason, int exit_code, bool is_written) {
    m_phase = Phase::Ended;
    m_end_state = state;
    m_end_reason = reason;
    m_exit_code = exit_code;
    if (!is_written) {
        const auto written = launch_files::write_state(m_run.folder, state, reason, exit_code);
        if (!written) log::error(mode() + ": the end state can't be recorded: " + describe(written.error()));
    }
    launch_files::free_reserve(m_run.folder);
    m_claim.release();
    log::info(mode() + ": " + to_string(state) + (reason.empty() ? "" : ": " + reason));
}

Result<std::string> ManagedRun::command(const std::string& name) {
    if (has_ended()) {
        return Error{ErrorCode::Usage, "the run " + mode() + " has ended (" + to_string(m_end_state) + ")",
                     ""};
    }
    if (name != "abort" && !parse_control_command(name)) {
        return Error{ErrorCode::Usage, "unknown command '" + name + "'",
                     "use pause, resume, step, checkpoint, stop, interrupt, watch0, watch1, watch2, abort or status"};
    }
    if (is_queued()) return command_before_start(name);
    if (name == "abort") {
        m_aborted = true;
        m_workers.kill_all();
        return mode() + ": aborted";
    }
    if (name == "stop" || name == "interrupt") m_hung.ask_to_end();
    if (const auto sent = m_workers.send(name + "\n"); !sent) {
        return Error{ErrorCode::InputOutput, "the run " + mode() + " can't be reached: " + sent.error().message, ""};
    }
    return mode() + ": " + name;
}

Result<std::string> ManagedRun::command_before_start(const std::string& name) {
    if (name == "stop") {
        end_unstarted(RunState::Stopped, "stopped before it started", 0);
    } else if (name == "interrupt" || name == "abort") {
        end_unstarted(RunState::Interrupted, "interrupted before it started",
                      mantissa::exit_code(ErrorCode::Interrupted));
    } else if (name == "checkpoint") {
        return Error{ErrorCode::Usage, "the run " + mode() + " has not started: there is nothing to save yet", ""};
    } else {
        m_first_commands += name + " ";
    }
    return mode() + ": " + name;
}

}  // namespace mantissa
