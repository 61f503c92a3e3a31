#include "launch/thread_run.h"

#include <unistd.h>

#include <fstream>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"
#include "launch/engine_module.h"
#include "launch/run_body.h"
#include "launch/run_files.h"
#include "launch/thread_control.h"
#include "record/rank_file.h"

namespace mantissa {

namespace {

/// What rule 10 needs to know about this process.
struct ProcessState {
    std::mutex mutex;  // protects both below
    bool is_running = false;
    std::optional<Precision> precision;  // fixed by the first run
};

ProcessState& process_state() {
    static ProcessState state;
    return state;
}

std::string refusal_locked(const ProcessState& state, JobKind kind, Precision mode) {
    if (kind == JobKind::Comparison) {
        return "a comparison runs each mode in a fresh process; the worker thread of this process can hold "
               "one mode only";
    }
    if (state.is_running) return "a run in scope thread is going on in this process; one at a time";
    if (state.precision && *state.precision != mode) {
        return "this process has trained in " + std::string(to_string(*state.precision)) +
               " and keeps that precision; " + to_string(mode) + " needs a fresh process";
    }
    return {};
}

/// The precision is fixed when an engine is there: a module that can't be loaded binds the process to
/// nothing.
EngineLoader loader_that_binds(EngineLoader loader, Precision mode) {
    return [loader = std::move(loader), mode]() -> Result<const EngineApi*> {
        auto engine = loader ? loader() : load_engine();
        auto& state = process_state();
        const std::lock_guard lock(state.mutex);
        if (engine) state.precision = mode;
        return engine;
    };
}

/// worker.log of a run that has no process whose output could go there.
class RunLog {
  public:
    explicit RunLog(const std::filesystem::path& file) : m_file(std::make_shared<std::ofstream>(file, std::ios::app)) {}
    void operator()(const std::string& line) const {
        *m_file << readable_time(now_ns()) << ' ' << line << std::endl;
    }

  private:
    std::shared_ptr<std::ofstream> m_file;
};

}  // namespace

std::string thread_scope_refusal(JobKind kind, Precision mode) {
    auto& state = process_state();
    const std::lock_guard lock(state.mutex);
    return refusal_locked(state, kind, mode);
}

Result<std::unique_ptr<ThreadRun>> ThreadRun::start(
    PreparedJob job, const EngineLoader& loader,
    std::function<Result<void>(const std::filesystem::path&)> finish, std::optional<RankPlace> ranks, Owner owner) {
    const bool is_main = !ranks || ranks->rank == 0;
    auto& state = process_state();
    {
        const std::lock_guard lock(state.mutex);
        const std::string refusal = refusal_locked(state, job.kind, job.runs.front().mode);
        if (!refusal.empty()) return Error{ErrorCode::Usage, refusal, "choose launch.scope process"};
        state.is_running = true;
    }
    const auto leave = [&state] {
        const std::lock_guard lock(state.mutex);
        state.is_running = false;
    };
    const Result<int> job_lock = is_main ? launch_files::lock_job(job.folder) : Result<int>(-1);
    if (!job_lock) {
        leave();
        return job_lock.error();
    }
    const Precision mode = job.runs.front().mode;
    std::unique_ptr<ThreadRun> run(new ThreadRun(std::move(job)));
    if (is_main) {
        auto server = ThreadControl::open(run->m_job.runs.front().folder, to_string(mode), run->m_control, owner == Owner::Window ? ::getpid() : 0);
        if (server)
            run->m_server = std::move(*server);
        else
            log::warning("the run can be controlled from this program alone: " + describe(server.error()));
    }
    run->m_thread = std::jthread([self = run.get(), loader = loader_that_binds(loader, mode),
                                  finish = std::move(finish), job_lock = *job_lock, leave, ranks, is_main] {
        const RunFolder folder = self->m_job.runs.front().folder;
        const RunLog log(rank_log(folder.path, ranks ? ranks->rank : 0));
        RunResult result = execute_run(folder, self->m_control, nullptr, loader, log, ranks ? &*ranks : nullptr);
        self->m_exit_code = result.exit_code;
        self->m_reason = std::move(result.reason);
        if (self->m_server) self->m_server->publish_end(result.exit_code);
        if (finish && is_main) {
            if (const auto finished = finish(folder.path); !finished) log::error(describe(finished.error()));
        }
        if (is_main) launch_files::free_reserve(folder);
        for (auto& claim : self->m_job.claims) claim.release();
        if (job_lock >= 0) ::close(job_lock);
        leave();
        self->m_ended = true;
    });
    return run;
}

ThreadRun::ThreadRun(PreparedJob job) : m_job(std::move(job)) {}

ThreadRun::~ThreadRun() {
    m_control.post(ControlCommand::Interrupt);
    if (m_thread.joinable()) m_thread.join();
}

void ThreadRun::end_by(ControlCommand command) {
    m_hung.ask_to_end();
    m_control.post(command);
}

std::string ThreadRun::must_leave() {
    const RunFolder& folder = m_job.runs.front().folder;
    std::string reason;
    if (m_server && m_server->is_aborted()) {
        const auto lives = read_lives(folder.path);
        reason = "aborted" + (lives.empty() ? std::string() : " " + lives.front().where()) + ": the program was ended on command";
    } else {
        // A stop that came by the socket counts as well.
        if (m_control.is_ending()) m_hung.ask_to_end();
        if (m_hung.look(folder) == HungRun::Act::Kill) reason = m_hung.said();
    }
    if (reason.empty() || !m_server) return reason;
    const auto written = launch_files::write_state(folder, RunState::Interrupted, reason, mantissa::exit_code(ErrorCode::Interrupted));
    if (!written) log::error(describe(written.error()));
    std::error_code ignored;
    std::filesystem::remove(folder.socket_name(), ignored);
    return reason;
}

int ThreadRun::wait() {
    if (m_thread.joinable()) m_thread.join();
    return m_exit_code;
}

}  // namespace mantissa
