#include "launch/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "launch/child_process.h"
#include "launch/run_files.h"
#include "launch/supervisor_loop.h"
#include "launch/worker_environment.h"
#include "record/comparison_record.h"

namespace mantissa {

namespace {

constexpr int longest_start_ms = 20'000;

/// Reads until the other end closes, or the time is over.
std::string read_answer(int descriptor, int milliseconds) {
    std::string text;
    std::array<char, 512> bytes{};
    while (true) {
        pollfd readable{descriptor, POLLIN, 0};
        const int ready = ::poll(&readable, 1, milliseconds);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return text;
        const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
        if (count <= 0) return text;
        text.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

void tell_starter(const std::string& text) {
    const char* number = std::getenv(worker_environment::ready);
    const auto descriptor = number != nullptr ? parse_int(number) : std::nullopt;
    if (!descriptor) return;
    if (::write(static_cast<int>(*descriptor), text.data(), text.size()) < 0)
        log::warning("the starter is gone already");
    ::close(static_cast<int>(*descriptor));
    ::unsetenv(worker_environment::ready);
}

Result<void> collect_claims(PreparedJob& job) {
    const char* text = std::getenv(worker_environment::claims);
    std::istringstream numbers(text != nullptr ? text : "");
    ::unsetenv(worker_environment::claims);
    for (const auto& run : job.all_runs()) {
        std::string number;
        const bool inherited = static_cast<bool>(std::getline(numbers, number, ','));
        auto claim = inherited ? RunClaim::adopt(run.folder, static_cast<int>(parse_int(number).value_or(-1)))
                               : RunClaim::take(run.folder);
        if (!claim) return claim.error();
        job.claims.push_back(std::move(*claim));
    }
    return {};
}

/// The folders are there and nobody will work on them: they say why, instead of looking lost.
Error mark_unstarted(const PreparedJob& job, Error error) {
    const auto runs = job.all_runs();
    // Without the claims the job belongs to somebody else.
    for (std::size_t i = 0; i < job.claims.size(); ++i) {
        const auto written = launch_files::write_state(runs[i].folder, RunState::Failed, describe(error),
                                                       exit_code(error.code));
        if (!written) log::warning(describe(written.error()));
    }
    if (job.kind == JobKind::Comparison && !job.claims.empty()) {
        if (auto record = read_comparison(job.folder)) {
            record->state = "failed";
            record->ended_ns = now_ns();
            if (const auto written = write_comparison(job.folder, *record); !written)
                log::warning(describe(written.error()));
        }
    }
    return error;
}

}  // namespace

std::filesystem::path mantissa_program() {
    if (const char* named = std::getenv("MANTISSA_PROGRAM"); named != nullptr && *named != '\0') return named;
    return program_folder() / "mantissa";
}

Result<SupervisorHandle> start_supervisor(PreparedJob job) {
    std::array<int, 2> ready{-1, -1};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) {
        return Error{ErrorCode::Internal, std::string("no pipe for the supervisor: ") + std::strerror(errno),
                     ""};
    }
    SpawnRequest request;
    request.program = mantissa_program();
    request.arguments = {"supervise", job.folder.string()};
    request.new_session = true;
    request.log_file = job.folder / launch_files::supervisor_log;
    request.inherited = {ready[1]};
    std::string claims;
    for (const auto& claim : job.claims) {
        claims += (claims.empty() ? "" : ",") + std::to_string(claim.descriptor());
        request.inherited.push_back(claim.descriptor());
    }
    request.environment = {{worker_environment::ready, std::to_string(ready[1])},
                           {worker_environment::claims, claims}};
    const auto pid = spawn(request);
    ::close(ready[1]);
    if (!pid) {
        ::close(ready[0]);
        return mark_unstarted(job, pid.error());
    }
    const std::string answer = read_answer(ready[0], longest_start_ms);
    ::close(ready[0]);
    SupervisorHandle handle(*pid, job.folder);
    if (answer == "ready") return handle;
    const std::string log_file = "its words are in " + request.log_file.string();
    if (!answer.empty())
        return mark_unstarted(job,
                              {ErrorCode::InputOutput, "the supervisor can't start: " + answer, log_file});
    if (!handle.poll()) ::kill(*pid, SIGKILL);
    return mark_unstarted(
        job,
        {ErrorCode::WorkerLost,
         "the supervisor gave no sign of life and ended with " + std::to_string(handle.wait()), log_file});
}

std::optional<int> SupervisorHandle::poll() {
    if (m_exit_code) return m_exit_code;
    int status = 0;
    const pid_t ended = ::waitpid(m_pid, &status, WNOHANG);
    if (ended == 0) return std::nullopt;
    // Reaped by somebody else (ECHILD): what it did stands in the folder.
    if (ended < 0)
        m_exit_code = exit_code(ErrorCode::WorkerLost);
    else
        m_exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return m_exit_code;
}

int SupervisorHandle::wait() {
    while (!poll()) {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOWAIT);
    }
    return *m_exit_code;
}

int supervise(const std::filesystem::path& job_folder, const SupervisorHooks& hooks) {
    auto job = read_job(job_folder);
    if (!job) {
        tell_starter(describe(job.error()));
        log::error(describe(job.error()));
        return exit_code(job.error().code);
    }
    const auto plan = launch_files::read_run_plan(job->runs.front().folder.plan());
    const auto claims = collect_claims(*job);
    if (!plan || !claims) {
        const Error& error = plan ? claims.error() : plan.error();
        tell_starter(describe(error));
        log::error(describe(error));
        return exit_code(error.code);
    }
    SupervisorLoop loop(std::move(*job), *plan, hooks);
    if (const auto opened = loop.open(); !opened) {
        tell_starter(describe(opened.error()));
        log::error(describe(opened.error()));
        return exit_code(opened.error().code);
    }
    tell_starter("ready");
    return loop.run();
}

}  // namespace mantissa
