#include "launch/thread_run.h"

#include <unistd.h>

#include <fstream>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"
#include "launch/engine_module.h"
#include "launch/run_body.h"
#include "launch/run_files.h"
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
    std::function<Result<void>(const std::filesystem::path&)> finish, std::optional<RankPlace> ranks) {
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
    run->m_thread = std::jthread([self = run.get(), loader = loader_that_binds(loader, mode),
                                  finish = std::move(finish), job_lock = *job_lock, leave, ranks, is_main] {
        const RunFolder folder = self->m_job.runs.front().folder;
        const RunLog log(rank_log(folder.path, ranks ? ranks->rank : 0));
        self->m_exit_code = execute_run(folder, self->m_control, nullptr, loader, log, ranks ? &*ranks : nullptr).exit_code;
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

ThreadRun::~ThreadRun() {
    m_control.post(ControlCommand::Interrupt);
    if (m_thread.joinable()) m_thread.join();
}

int ThreadRun::wait() {
    if (m_thread.joinable()) m_thread.join();
    return m_exit_code;
}

}  // namespace mantissa
