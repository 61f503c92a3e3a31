#include "launch/supervisor_loop.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "launch/device_memory.h"
#include "launch/run_files.h"
#include "launch/run_lookup.h"

namespace mantissa {

namespace {

constexpr std::int64_t publish_every_ns = 500'000'000;
constexpr std::int64_t longest_hold_ns =
    60'000'000'000;  // a worker that hangs before its first step must not hang the others

/// Blocked and read as events, so that no code runs in a signal handler; children start with a clean mask
/// (spawn).
int open_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    for (const int ignored : {SIGPIPE, SIGHUP, SIGXFSZ}) std::signal(ignored, SIG_IGN);
    return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

void log_failure(const Result<void>& result) {
    if (!result) log::error(describe(result.error()));
}

}  // namespace

SupervisorLoop::SupervisorLoop(PreparedJob job, RunPlan plan, const SupervisorHooks& hooks)
    : m_job(std::move(job)), m_plan(std::move(plan)), m_hooks(hooks) {
    const auto runs = m_job.all_runs();
    for (std::size_t i = 0; i < runs.size(); ++i) m_runs.emplace_back(runs[i], std::move(m_job.claims[i]));
    m_job.claims.clear();
}

SupervisorLoop::~SupervisorLoop() {
    if (m_signals >= 0) ::close(m_signals);
    if (m_lock >= 0) ::close(m_lock);
}

Result<void> SupervisorLoop::open() {
    auto lock = launch_files::lock_job(m_job.folder);
    if (!lock) return lock.error();
    m_lock = *lock;
    if (is_comparison()) {
        auto record = read_comparison(m_job.folder);
        if (!record) return record.error();
        m_record = std::move(*record);
    }
    m_signals = open_signals();
    auto server =
        ControlServer::open([this](const auto& name, const auto& run) { return command(name, run); },
                            [this](std::string& phase) { return status(phase); });
    if (!server) return server.error();
    m_server.emplace(std::move(*server));
    write_control_files();
    return {};
}

int SupervisorLoop::run() {
    log::info("supervisor " + std::to_string(::getpid()) + " of " + m_job.folder.string());
    while (!all_ended() || m_trial) {
        if (m_trials_done) {
            start_runs();
            start_next_replica();
        } else {
            advance_trials();
        }
        if (all_ended() && !m_trial) break;
        wait_for_events();
        reap_workers();
        let_turns_begin();
    }
    finish();
    const int result = exit_code_of_job();
    m_server->publish_status();
    m_server->publish_end(result);
    remove_control_files();
    return result;
}

int SupervisorLoop::exit_code_of_job() const {
    // Not read from the recordings: a full disk may have kept an end state out of them, and it is known here.
    std::vector<RunOutcome> outcomes;
    for (const auto& run : m_runs) {
        if (!run.is_replica()) outcomes.push_back({run.end_state(), {}, run.exit_code()});
    }
    return combined_exit_code(m_job.kind, outcomes);
}

void SupervisorLoop::wait_for_events() {
    std::vector<pollfd> events{{m_signals, POLLIN, 0}};
    m_server->add_to(events);
    // The trial's time limit, the first turn, and the status at 2 Hz are looked at without an event.
    ::poll(events.data(), events.size(), m_turn_hold ? 5 : m_trial ? 100 : 250);
    if (events.front().revents != 0) take_signals();
    const bool has_client_event =
        std::any_of(events.begin() + 1, events.end(), [](const pollfd& e) { return e.revents != 0; });
    if (has_client_event) m_server->serve();
    if (monotonic_ns() - m_published_ns > publish_every_ns) {
        m_published_ns = monotonic_ns();
        m_server->publish_status();
    }
}

void SupervisorLoop::take_signals() {
    signalfd_siginfo signal{};
    while (::read(m_signals, &signal, sizeof signal) == sizeof signal) {
        const bool warning = signal.ssi_signo == static_cast<std::uint32_t>(SIGUSR1);  // Slurm: the time is nearly over
        const bool stop = warning || signal.ssi_signo == static_cast<std::uint32_t>(SIGTERM);
        const bool interrupt = signal.ssi_signo == static_cast<std::uint32_t>(SIGINT);
        if (!stop && !interrupt) continue;
        log::info(warning ? "SIGUSR1: all runs stop" : stop ? "SIGTERM: all runs stop" : "SIGINT: all runs are interrupted");
        for (auto& run : m_runs) {
            if (!run.has_ended()) (void)run.command(stop ? "stop" : "interrupt");
        }
    }
}

void SupervisorLoop::reap_workers() {
    bool changed = false;
    // By pid: a trial's process belongs to TrialProcess.
    for (auto& run : m_runs) {
        if (run.is_running() && run.look_for_end()) changed = true;
    }
    if (changed) m_server->publish_status();
}

void SupervisorLoop::advance_trials() {
    if (m_trial) {
        if (m_runs[m_next_trial - 1].has_ended())
            m_trial.reset();  // stopped meanwhile: the process goes with it
        else if (const auto outcome = m_trial->poll())
            take_trial(*outcome);
    }
    while (!m_trial && m_next_trial < m_runs.size()) {
        auto& run = m_runs[m_next_trial++];
        if (run.has_ended() || run.is_replica()) continue;  // what the control's trial finds holds for its replicas
        run.mark_trial();
        auto trial = TrialProcess::start(run.run().folder.plan(), run.run().mode, m_plan.launch.threads,
                                         run.run().folder.log(), m_hooks.trial_limit);
        if (trial)
            m_trial.emplace(std::move(*trial));
        else
            run.end_unstarted(RunState::Failed, describe(trial.error()), exit_code(trial.error().code));
    }
    if (m_trial || m_next_trial < m_runs.size()) return;
    m_trials_done = true;
    decide_order();
    if (m_record) m_record->state = "running";
    save_comparison();
    start_runs();
}

void SupervisorLoop::take_trial(const TrialOutcome& outcome) {
    auto& run = m_runs[m_next_trial - 1];
    m_trial.reset();
    m_outcomes.push_back(outcome);
    const std::string text =
        to_json(outcome.report).dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
    log_failure(write_file_atomically(run.run().folder.trial(), text));
    if (m_record) m_record->trials.push_back(outcome.report);
    save_comparison();
    if (!outcome.report.runs) run.end_unstarted(RunState::Failed, outcome.report.refusal, outcome.exit_code);
}

void SupervisorLoop::decide_order() {
    if (!m_record || m_job.order == ComparisonOrder::OneByOne) return;
    if (m_plan.launch.scope == LaunchScope::Ranks) {
        m_job.order = ComparisonOrder::OneByOne;
        m_record->order = "one-by-one";
        m_record->order_reason = "each mode runs on " + std::to_string(m_plan.launch.processes) + " processes at once";
        log::info("order: one by one: " + m_record->order_reason);
        return;
    }
    std::int64_t needed = 0, device = 0;
    for (const auto& outcome : m_outcomes) {
        if (!outcome.report.runs) continue;
        needed += outcome.report.memory_peak_bytes;
        device = std::max(device, outcome.device_memory_bytes);
    }
    if (device == 0 && m_plan.device.rfind("cuda", 0) != 0) device = machine_memory_bytes();
    const auto reason = reason_for_one_by_one(needed, device);
    if (reason.empty()) return;
    m_job.order = ComparisonOrder::OneByOne;
    m_record->order = "one-by-one";
    m_record->order_reason = reason;
    log::info("order: one by one: " + reason);
}

void SupervisorLoop::start_runs() {
    const bool turns = is_comparison() && m_job.order == ComparisonOrder::Turns;
    const bool some_start = std::any_of(m_runs.begin(), m_runs.end(),
                                        [](const auto& run) { return run.is_queued() && !run.is_replica(); });
    if (turns && some_start) {
        auto hold = TurnHold::take(m_job.folder);
        m_hold_started_ns = monotonic_ns();
        if (hold)
            m_turn_hold.emplace(std::move(*hold));
        else
            log::warning("the turns begin without waiting for all: " + describe(hold.error()));
    }
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (!m_runs[i].is_queued() || m_runs[i].is_replica()) continue;
        if (m_job.order == ComparisonOrder::OneByOne && any_running()) return;
        if (const auto started = m_runs[i].start(m_plan, turns ? m_job.folder : std::filesystem::path(), i);
            !started) {
            log::error(m_runs[i].mode() + ": " + describe(started.error()));
        }
    }
}

// One at a time, so that no mode's time is touched; the control that they repeat stands first.
void SupervisorLoop::start_next_replica() {
    if (!modes_ended() || any_running()) return;
    const auto next = std::find_if(m_runs.begin(), m_runs.end(), [](const auto& run) { return run.is_queued(); });
    if (next == m_runs.end()) return;
    if (m_runs.front().end_state() != RunState::Finished) {
        next->end_unstarted(RunState::Stopped, "the control did not run to its end, so there is nothing to repeat", 0);
    } else if (const auto started = next->start(m_plan, {}, 0); !started) {
        log::error(next->mode() + ": " + describe(started.error()));
    } else if (m_record) {
        const auto is_replica = [](const auto& run) { return run.is_replica(); };
        m_record->state = "repeating";
        m_record->repeating = {std::count_if(m_runs.begin(), std::next(next), is_replica),
                               std::count_if(m_runs.begin(), m_runs.end(), is_replica)};
        save_comparison();
    }
}

void SupervisorLoop::let_turns_begin() {
    if (!m_turn_hold) return;
    const bool out_of_patience = monotonic_ns() - m_hold_started_ns > longest_hold_ns;
    for (std::size_t i = 0; i < m_runs.size() && !out_of_patience; ++i) {
        if (m_runs[i].is_running() && !m_turn_hold->is_ready(i)) return;
    }
    if (out_of_patience) log::warning("the turns begin though not all runs stand at their first step");
    m_turn_hold.reset();
}

bool SupervisorLoop::all_ended() const {
    return std::all_of(m_runs.begin(), m_runs.end(), [](const auto& run) { return run.has_ended(); });
}

bool SupervisorLoop::modes_ended() const {
    return std::all_of(m_runs.begin(), m_runs.end(),
                       [](const auto& run) { return run.has_ended() || run.is_replica(); });
}

bool SupervisorLoop::any_running() const {
    return std::any_of(m_runs.begin(), m_runs.end(), [](const auto& run) { return run.is_running(); });
}

std::string SupervisorLoop::final_state() const {
    const auto any = [this](RunState state) {
        return std::any_of(m_runs.begin(), m_runs.end(),
                           [state](const auto& run) { return !run.is_replica() && run.end_state() == state; });
    };
    if (any(RunState::Interrupted)) return "interrupted";
    if (any(RunState::Stopped)) return "stopped";
    const bool none_worked = std::all_of(m_runs.begin(), m_runs.end(), [](const auto& run) {
        return run.is_replica() || run.end_state() == RunState::Failed || run.end_state() == RunState::Lost;
    });
    return none_worked ? "failed" : "finished";
}

void SupervisorLoop::finish() {
    m_is_finishing = true;
    m_server->publish_status();
    if (m_record) {
        m_record->state = final_state();
        m_record->repeating.reset();
        m_record->ended_ns = now_ns();
    }
    save_comparison();
    if (m_hooks.finish) log_failure(m_hooks.finish(m_job.folder));
}

void SupervisorLoop::save_comparison() {
    if (m_record) log_failure(write_comparison(m_job.folder, *m_record));
}

void SupervisorLoop::write_control_files() const {
    const std::string text = m_server->path().string() + "\n";
    log_failure(write_file_atomically(RunFolder{m_job.folder}.socket_name(), text));
    if (!is_comparison()) return;
    for (const auto& run : m_job.all_runs()) log_failure(write_file_atomically(run.folder.socket_name(), text));
}

void SupervisorLoop::remove_control_files() const {
    std::error_code ignored;
    std::filesystem::remove(RunFolder{m_job.folder}.socket_name(), ignored);
    for (const auto& run : m_job.all_runs()) std::filesystem::remove(run.folder.socket_name(), ignored);
}

Result<std::string> SupervisorLoop::command(const std::string& name, const std::string& run_name) {
    std::string done, refused;
    bool known = false;
    for (auto& run : m_runs) {
        if (!run_name.empty() && run_name != "all" && run_name != run.mode()) continue;
        known = true;
        const auto answer = run.command(name);
        auto& text = answer ? done : refused;
        text += (text.empty() ? "" : "; ") + (answer ? *answer : describe(answer.error()));
    }
    if (!known) return Error{ErrorCode::Usage, "there is no run '" + run_name + "' in this job", ""};
    if (done.empty()) return Error{ErrorCode::Usage, refused, ""};
    return done;
}

std::vector<RunStatus> SupervisorLoop::status(std::string& phase) {
    const bool is_repeating = m_record && m_record->repeating;
    phase = m_is_finishing ? "finishing" : is_repeating ? "repeating" : m_trials_done ? "running" : "trial";
    std::vector<RunStatus> all;
    for (auto& run : m_runs) all.push_back(run.status());
    return all;
}

}  // namespace mantissa
