#include "launch/trial_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "launch/child_process.h"
#include "launch/supervisor.h"

namespace mantissa {

namespace {

std::filesystem::path unique_out_file(Precision mode) {
    static int counter = 0;
    return std::filesystem::temp_directory_path() /
           ("mantissa-trial-" + std::to_string(::getpid()) + "-" + std::to_string(monotonic_ns()) + "-" +
            std::to_string(++counter) + "-" + to_string(mode) + ".json");
}

TrialOutcome refusal(Precision mode, const std::string& reason, int exit_code) {
    TrialOutcome outcome;
    outcome.report.mode = mode;
    outcome.report.choice.requested = outcome.report.choice.effective = mode;
    outcome.report.runs = false;
    outcome.report.refusal = reason;
    outcome.exit_code = exit_code;
    return outcome;
}

}  // namespace

Result<TrialProcess> TrialProcess::start(const std::filesystem::path& plan_file, Precision mode,
                                         std::int64_t threads, const std::filesystem::path& log_file,
                                         std::chrono::seconds limit) {
    TrialProcess trial;
    trial.m_mode = mode;
    trial.m_out_file = unique_out_file(mode);
    trial.m_limit = limit;
    trial.m_started_ns = monotonic_ns();
    SpawnRequest request;
    request.program = mantissa_program();
    request.arguments = {"trial", plan_file.string(), to_string(mode), trial.m_out_file.string()};
    request.environment = numeric_environment(threads);
    request.log_file = log_file;
    auto pid = spawn(request);
    if (!pid) return pid.error();
    trial.m_pid = *pid;
    return trial;
}

TrialProcess::TrialProcess(TrialProcess&& other) noexcept {
    *this = std::move(other);
}

TrialProcess& TrialProcess::operator=(TrialProcess&& other) noexcept {
    std::swap(m_pid, other.m_pid);
    std::swap(m_mode, other.m_mode);
    std::swap(m_out_file, other.m_out_file);
    std::swap(m_limit, other.m_limit);
    std::swap(m_started_ns, other.m_started_ns);
    std::swap(m_timed_out, other.m_timed_out);
    return *this;
}

TrialProcess::~TrialProcess() {
    if (m_pid > 0) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    std::error_code ignored;
    if (!m_out_file.empty()) std::filesystem::remove(m_out_file, ignored);
}

std::optional<TrialOutcome> TrialProcess::poll() {
    if (m_pid <= 0) return std::nullopt;
    int status = 0;
    const pid_t ended = ::waitpid(m_pid, &status, WNOHANG);
    if (ended == 0) {
        const auto seconds = (monotonic_ns() - m_started_ns) / 1'000'000'000;
        if (seconds >= m_limit.count() && !m_timed_out) {
            m_timed_out = true;
            ::kill(m_pid, SIGKILL);
        }
        return std::nullopt;
    }
    m_pid = -1;
    if (ended < 0) return refusal(m_mode, "the trial's process was lost", exit_code(ErrorCode::WorkerLost));
    return read_outcome(status);
}

TrialOutcome TrialProcess::read_outcome(int wait_status) const {
    if (m_timed_out) {
        return refusal(m_mode,
                       "the trial of " + std::string(to_string(m_mode)) + " did not end within " +
                           std::to_string(m_limit.count()) + " s and was killed",
                       exit_code(ErrorCode::WorkerLost));
    }
    // A written answer counts even when the process crashed afterwards, on its way out.
    const auto text = read_file(m_out_file, 1 << 20);
    if (!text) {
        return refusal(m_mode,
                       "the trial of " + std::string(to_string(m_mode)) +
                           " gave no answer: its process was " + describe_wait_status(wait_status),
                       exit_code(ErrorCode::WorkerLost));
    }
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_object() && json.contains("report")) {
        if (auto report = trial_report_from_json(json["report"])) {
            return {*report, json.value("exit_code", 0), json.value("device_memory_bytes", std::int64_t{0})};
        }
    }
    return refusal(m_mode, "the trial's answer can't be read: " + m_out_file.string(),
                   exit_code(ErrorCode::Internal));
}

}  // namespace mantissa
