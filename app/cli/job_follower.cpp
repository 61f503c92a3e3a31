#include "job_follower.h"

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/log.h"
#include "base/numbers.h"
#include "launch/control_client.h"
#include "launch/hung_run.h"
#include "launch/supervisor.h"
#include "launch/thread_run.h"
#include "pacer.h"
#include "record/meta_keys.h"
#include "signals.h"

namespace mantissa::cli {
namespace {

constexpr int tick_ms = 100;

/// Passes the signals that came on to the supervisor, each once.
class SignalRelay {
  public:
    SignalRelay(pid_t supervisor, std::filesystem::path folder, ProgressView& view)
        : m_supervisor(supervisor), m_folder(std::move(folder)), m_view(view) {}

    void relay() {
        const SignalCounts now = signal_counts();
        if (now.terminations > m_seen.terminations) {
            m_view.line("SIGTERM: the runs stop at the next step");
            ::kill(m_supervisor, SIGTERM);
        }
        if (now.interrupts > m_seen.interrupts && m_seen.interrupts == 0) {
            m_view.line("interrupted: the runs end at the next step; Ctrl-C again kills them");
            ::kill(m_supervisor, SIGINT);
        }
        if (now.interrupts > 1 && now.interrupts > m_seen.interrupts) abort_runs();
        m_seen = now;
    }

  private:
    void abort_runs() {
        m_view.line("killed");
        constexpr int patience_ms = 2000;
        const auto aborted = send_one_command(m_folder, "abort", {}, patience_ms);
        if (!aborted) m_view.line("the runs can't be killed from here: " + describe(aborted.error()));
    }

    pid_t m_supervisor;
    std::filesystem::path m_folder;
    ProgressView& m_view;
    SignalCounts m_seen;
};

/// A run that waits (on_nonfinite = pause, or a pause from elsewhere) needs somebody who knows how it goes
/// on.
void explain_pauses(const std::vector<RunProgress>& runs, const std::filesystem::path& folder,
                    std::vector<bool>& told, ProgressView& view) {
    told.resize(runs.size(), false);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const bool is_paused = runs[i].state == RunState::Paused;
        if (is_paused && !told[i])
            view.line(std::string(to_string(runs[i].mode)) + " waits: mantissa runs control " +
                      folder.filename().string() + " resume (or step, stop) --mode " +
                      to_string(runs[i].mode));
        told[i] = is_paused;
    }
}

/// A run that is led step by step pauses after each of them: no event to tell.
std::vector<RunProgress> without_pauses(std::vector<RunProgress> runs) {
    for (RunProgress& run : runs)
        if (run.state == RunState::Paused) run.state = RunState::Running;
    return runs;
}

/// A run that stands still is told once, and once when it moves again.
void tell_stalls(const std::vector<RunProgress>& runs, const std::filesystem::path& folder, std::vector<bool>& told, ProgressView& view) {
    told.resize(runs.size(), false);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string mode = to_string(runs[i].mode);
        const bool stands = !runs[i].stall.empty();
        if (stands && !told[i])
            view.line(mode + ": " + runs[i].stall + "; mantissa runs control " + folder.filename().string() + " stop --mode " + mode +
                      " ends it, and what is recorded stays");
        if (!stands && told[i] && runs[i].state == RunState::Running) view.line(mode + ": goes on");
        told[i] = stands;
    }
}

/// Replicas have no bars: which one runs is told when it begins.
void tell_repeating(const ControlEvent& status, std::size_t modes, std::size_t& told, ProgressView& view) {
    if (status.phase != "repeating" || status.runs.size() <= modes) return;
    std::size_t at = 0;
    for (std::size_t i = modes; i < status.runs.size(); ++i)
        if (status.runs[i].alive) at = i - modes + 1;
    if (at <= told) return;
    told = at;
    view.line("the modes have ended; repeating `no`: " + std::to_string(at) + " of " + std::to_string(status.runs.size() - modes));
}

void take_events(ControlClient& client, ProgressView& view, bool& connected, std::size_t modes, std::size_t& told_replica) {
    while (connected) {
        const auto event = client.take_event();
        if (!event) return;
        if (event->kind == ControlEvent::Kind::Status) tell_repeating(*event, modes, told_replica, view);
        if (event->kind == ControlEvent::Kind::Refused) view.line("refused: " + event->text);
        if (event->kind == ControlEvent::Kind::Disconnected) connected = false;
    }
}

}  // namespace

JobFollower::JobFollower(const PreparedJob& job) : m_readers(job.runs.size()), m_stalls(job.runs.size()) {
    for (const JobRun& run : job.runs) {
        m_folders.push_back(run.folder.path);
        RunProgress progress;
        progress.mode = run.mode;
        m_progress.push_back(std::move(progress));
    }
}

const std::vector<RunProgress>& JobFollower::read() {
    for (std::size_t i = 0; i < m_folders.size(); ++i) read_run(i);
    return m_progress;
}

void JobFollower::read_keys(RunReader& reader, RunProgress& progress) {
    const auto keys = reader.meta();
    if (!keys) return;
    if (const auto planned = keys->find(meta::planned_steps); planned != keys->end())
        progress.planned_steps = parse_int(planned->second).value_or(0);
    if (const auto metric = keys->find(meta::metric); metric != keys->end())
        progress.metric_name = metric->second;
}

void JobFollower::read_run(std::size_t index) {
    auto& reader = m_readers[index];
    RunProgress& progress = m_progress[index];
    if (!reader) {
        auto opened = RunReader::open(m_folders[index]);
        if (!opened) return;
        reader = std::move(*opened);
    }
    // The state first: rows that come after it are newer, so an end state never goes with too few rows.
    const auto state = reader->state();
    const auto rows = reader->read_new();
    if (!state || !rows) return;
    progress.state = state->state;
    progress.reason = state->reason;
    const auto stall = m_stalls[index].look(m_folders[index], state->state);
    progress.stall = stall ? describe_stall(*stall) : "";
    for (const StepRow& row : rows->steps) {
        progress.steps = row.step + 1;
        progress.loss = row.loss;
        progress.skipped += row.skipped ? 1 : 0;
        const bool is_bad = row.nonfinite_loss || (!row.loss_scale && row.nonfinite_grads > 0);
        if (is_bad && !progress.first_nonfinite_step) progress.first_nonfinite_step = row.step;
    }
    if (progress.planned_steps == 0) read_keys(*reader, progress);
    for (const EvaluationRow& row : rows->evaluations)
        if (row.split == "validation" && row.metric == progress.metric_name) progress.metric = row.value;
}

Result<int> run_supervised(PreparedJob job, ProgressView& view, double pace) {
    JobFollower follower(job);
    const auto folder = job.folder;
    const std::size_t modes = job.runs.size();
    std::size_t told_replica = 0;
    auto handle = start_supervisor(std::move(job));
    if (!handle) return handle.error();
    auto client = ControlClient::connect(
        folder, ControlRole::Watch);  // the control is for the window and `runs control`
    bool connected = client.ok();
    if (!connected) view.line("the supervisor can't be reached: " + describe(client.error()));
    SignalRelay relay(handle->pid(), folder, view);
    Pacer pacer(folder, pace);
    std::vector<bool> told_pauses, told_stalls;
    while (!handle->poll()) {
        relay.relay();
        if (connected) {
            pollfd event{client->descriptor(), POLLIN, 0};
            ::poll(&event, 1, pacer.wait_ms());
            take_events(*client, view, connected, modes, told_replica);
        } else {
            ::poll(nullptr, 0, pacer.wait_ms());
        }
        const auto progress = pacer.is_on() ? without_pauses(follower.read()) : follower.read();
        view.update(progress);
        if (pacer.is_on()) pacer.tick(progress);
        else explain_pauses(progress, folder, told_pauses, view);
        tell_stalls(progress, folder, told_stalls, view);
    }
    view.update(follower.read());
    if (signal_counts().interrupts > 1) return exit_code(ErrorCode::Interrupted);
    const int code = handle->wait();
    if (code > 128 && code != exit_code(ErrorCode::Interrupted))
        return Error{ErrorCode::WorkerLost,
                     "the supervisor was killed by signal " + std::to_string(code - 128),
                     "what was recorded is in " + folder.string() +
                         "; a worker that still computes goes on to its end"};
    return code;
}

Result<int> run_in_thread(PreparedJob job, ProgressView& view,
                          const std::function<Result<void>(const std::filesystem::path&)>& finish,
                          const std::optional<RankPlace>& ranks) {
    catch_hangup();
    const bool is_other_rank = ranks && ranks->rank > 0;  // rank 0 shows the run; another one says how it ended itself
    JobFollower follower(job);
    const auto folder = job.folder;
    auto run = ThreadRun::start(std::move(job), {}, finish, ranks);
    if (!run) return run.error();
    SignalCounts seen;
    std::vector<bool> told_pauses, told_stalls;
    while (!(*run)->has_ended()) {
        const SignalCounts now = signal_counts();
        if (now.interrupts > 1)
            std::_Exit(exit_code(ErrorCode::Interrupted));  // the recording is safe to a second
        if (now.interrupts > seen.interrupts) {
            view.line("interrupted: the run ends at the next step; Ctrl-C again leaves at once");
            (*run)->end_by(ControlCommand::Interrupt);
        }
        if (now.terminations > seen.terminations) {
            view.line("SIGTERM: the run stops at the next step");
            (*run)->end_by(ControlCommand::Stop);
        }
        seen = now;
        std::this_thread::sleep_for(std::chrono::milliseconds(tick_ms));
        const auto& progress = follower.read();
        view.update(progress);
        explain_pauses(progress, folder, told_pauses, view);
        tell_stalls(progress, folder, told_stalls, view);
        if (const std::string why = (*run)->must_leave(); !why.empty()) {
            view.update(follower.read());
            std::fprintf(stderr, "mantissa: %s\n", why.c_str());
            std::_Exit(exit_code(ErrorCode::Interrupted));
        }
    }
    const int code = (*run)->wait();
    view.update(follower.read());
    if (is_other_rank && code != 0) std::fprintf(stderr, "mantissa: rank %lld: %s\n", static_cast<long long>(ranks->rank), (*run)->reason().c_str());
    return code;
}

}  // namespace mantissa::cli
