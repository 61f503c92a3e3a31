#include "launch/managed_run.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "host/run_control.h"
#include "launch/child_process.h"
#include "launch/run_files.h"
#include "launch/supervisor.h"
#include "launch/worker_environment.h"

namespace mantissa {

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

std::string at_step(std::int64_t steps) {
    return steps > 0 ? " at step " + std::to_string(steps - 1) : " before its first step";
}

}  // namespace

RunStatus ManagedRun::status() {
    follow();
    return {mode(),
            m_run.folder.path.string(),
            has_ended() ? to_string(m_end_state) : m_state,
            has_ended() ? m_end_reason : m_reason,
            m_steps,
            is_running()};
}

void ManagedRun::follow() {
    if (!m_reader) {
        auto reader = RunReader::open(m_run.folder.path);
        if (!reader) return;
        m_reader = std::move(*reader);
    }
    const auto rows = m_reader->read_new();
    if (!rows) return;
    if (!rows->steps.empty()) m_steps = rows->steps.back().step + 1;
    if (!rows->states.empty()) {
        m_state = to_string(rows->states.back().state);
        m_reason = rows->states.back().reason;
    }
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
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
        const Error error{ErrorCode::Internal,
                          std::string("no channel to the worker: ") + std::strerror(errno), ""};
        end_unstarted(RunState::Failed, describe(error), mantissa::exit_code(error.code));
        return error;
    }
    SpawnRequest request;
    request.program = mantissa_program();
    request.arguments = {"worker", m_run.folder.path.string()};
    request.environment = numeric_environment(plan.launch.threads);
    request.environment.emplace_back(worker_environment::channel, std::to_string(pair[1]));
    request.environment.emplace_back(worker_environment::lock_descriptor,
                                     std::to_string(m_claim.descriptor()));
    request.environment.emplace_back(worker_environment::first_commands, m_first_commands);
    if (!comparison_folder.empty()) {
        request.environment.emplace_back(worker_environment::turn_folder, comparison_folder.string());
        request.environment.emplace_back(worker_environment::turn_slot, std::to_string(slot));
    }
    request.inherited = {pair[1], m_claim.descriptor()};
    request.log_file = m_run.folder.log();
    const auto pid = spawn(request);
    ::close(pair[1]);
    if (!pid) {
        ::close(pair[0]);
        end_unstarted(RunState::Failed, describe(pid.error()), mantissa::exit_code(pid.error().code));
        return pid.error();
    }
    m_pid = *pid;
    m_channel = pair[0];
    m_phase = Phase::Running;
    log::info(mode() + ": worker process " + std::to_string(m_pid) + " started");
    return {};
}

/// The sentence of a worker that failed, when even its recording could not take it.
std::string ManagedRun::take_last_words() {
    std::string text;
    std::array<char, 1024> bytes{};
    while (true) {
        const ssize_t count = ::recv(m_channel, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count <= 0) break;
        text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("failed") || !json["failed"].is_string()) return {};
    return json["failed"].get<std::string>();
}

void ManagedRun::worker_ended(int wait_status) {
    const std::string last_words = take_last_words();
    ::close(m_channel);
    m_channel = -1;
    m_pid = -1;
    // The claim is still ours, so no reader can call the run lost before the reason stands there.
    const auto recorded = launch_files::read_recorded(m_run.folder);
    m_steps = recorded.steps;
    const bool by_signal = WIFSIGNALED(wait_status);
    if (recorded.last_state && is_end_state(recorded.last_state->state)) {
        const int code =
            by_signal ? launch_files::exit_code_of(recorded.last_state->state) : WEXITSTATUS(wait_status);
        if (by_signal)
            log::warning(mode() + ": its end was recorded, then it was " + describe_wait_status(wait_status));
        end(recorded.last_state->state, recorded.last_state->reason, code, true);
    } else if (m_aborted) {
        end(RunState::Interrupted, "aborted" + at_step(recorded.steps) + ": the worker was killed on command",
            mantissa::exit_code(ErrorCode::Interrupted), false);
    } else if (by_signal) {
        end(RunState::Lost, describe_wait_status(wait_status) + at_step(recorded.steps),
            mantissa::exit_code(ErrorCode::WorkerLost), false);
    } else {
        const int code = WEXITSTATUS(wait_status);
        const std::string reason = !last_words.empty()
                                       ? last_words
                                       : "the worker " + describe_wait_status(wait_status) +
                                             at_step(recorded.steps) +
                                             " without an end state; its words are in worker.log";
        end(RunState::Failed, reason, code == 0 ? mantissa::exit_code(ErrorCode::Internal) : code, false);
    }
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
        ::kill(m_pid, SIGKILL);
    } else {
        const std::string line = name + "\n";
        if (::send(m_channel, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            return Error{ErrorCode::InputOutput,
                         "the run " + mode() + " can't be reached: " + std::strerror(errno), ""};
        }
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
