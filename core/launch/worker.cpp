#include "launch/worker.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "launch/engine_module.h"
#include "launch/run_body.h"
#include "launch/run_claim.h"
#include "launch/run_files.h"
#include "launch/trusted_files.h"
#include "launch/turns.h"
#include "launch/worker_environment.h"

namespace mantissa {

namespace {

std::optional<std::int64_t> number_from_environment(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? parse_int(text) : std::nullopt;
}

/// Signals of the program become readable events of the main thread; all threads started later inherit the
/// mask.
int open_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGUSR1);  // Slurm's warning that the time is nearly over
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the recorder, with its sentence
    return ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Main thread of a worker: passes commands on until the run has ended.
class CommandListener {
  public:
    CommandListener(RunControl& control, int signals, int channel, int ended)
        : m_control(control), m_signals(signals), m_channel(channel), m_ended(ended) {}

    void listen_until_end() {
        while (true) {
            std::array<pollfd, 3> events{
                {{m_ended, POLLIN, 0}, {m_signals, POLLIN, 0}, {m_channel, POLLIN, 0}}};
            if (::poll(events.data(), events.size(), m_alone ? alone_tick_ms : -1) < 0) continue;
            if (events[1].revents != 0) take_signal();
            if (events[2].revents != 0) take_commands();
            if (events[0].revents != 0) return;
            if (m_alone) end_a_pause();
        }
    }

  private:
    static constexpr int alone_tick_ms = 200;

    /// A pause that nobody could end any more would hold the run for ever.
    void end_a_pause() {
        if (!m_control.is_paused()) return;
        log::warning("the run is paused and its supervisor is gone: nobody could resume it, so it stops");
        m_control.post(ControlCommand::Stop);
    }

    void take_signal() {
        signalfd_siginfo signal{};
        while (::read(m_signals, &signal, sizeof signal) == sizeof signal) {
            const bool interrupt = signal.ssi_signo == static_cast<std::uint32_t>(SIGINT);
            const bool warning = signal.ssi_signo == static_cast<std::uint32_t>(SIGUSR1);
            log::info(interrupt ? "SIGINT: the run is interrupted at the next step edge"
                                : std::string(warning ? "SIGUSR1" : "SIGTERM") + ": the run stops at the next step edge");
            m_control.post(interrupt ? ControlCommand::Interrupt : ControlCommand::Stop);
        }
    }

    void take_commands() {
        std::array<char, 256> bytes{};
        const ssize_t count = ::recv(m_channel, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count < 0) return;
        if (count == 0) {
            // The supervisor is gone. The run is worth more than its supervisor: it goes on, signals still
            // work.
            log::warning("the supervisor is gone; the run goes on to its end");
            m_channel = -1;
            m_alone = true;
            return;
        }
        m_line.append(bytes.data(), static_cast<std::size_t>(count));
        for (auto end = m_line.find('\n'); end != std::string::npos; end = m_line.find('\n')) {
            if (const auto command = parse_control_command(m_line.substr(0, end))) m_control.post(*command);
            m_line.erase(0, end + 1);
        }
    }

    RunControl& m_control;
    int m_signals, m_channel, m_ended;
    bool m_alone = false;  // the supervisor is gone
    std::string m_line;
};

void post_first_commands(RunControl& control) {
    const char* text = std::getenv(worker_environment::first_commands);
    std::istringstream words(text != nullptr ? text : "");
    for (std::string word; words >> word;) {
        if (const auto command = parse_control_command(word)) control.post(*command);
    }
}

Result<std::unique_ptr<TurnGate>> join_turns(RunControl& control) {
    const char* folder = std::getenv(worker_environment::turn_folder);
    const auto slot = number_from_environment(worker_environment::turn_slot);
    if (folder == nullptr || !slot) return std::unique_ptr<TurnGate>();
    auto gate = TurnGate::join(folder, static_cast<std::size_t>(*slot));
    if (gate) {
        control.set_wait_hook(
            [gate = gate->get(), &control](bool waiting) { gate->paused(waiting, control); });
    }
    return gate;
}

/// A full disk may keep the sentence out of the recording: the supervisor gets it over the channel too.
void tell_supervisor(int channel, const RunResult& result) {
    if (channel < 0 || result.state != RunState::Failed) return;
    const nlohmann::json message{{"failed", result.reason}, {"exit_code", result.exit_code}};
    const std::string line = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (::send(channel, line.data(), line.size(), MSG_NOSIGNAL) < 0)
        log::warning("the supervisor can't be told");
}

std::optional<RankPlace> place_among_ranks() {
    const char* file = std::getenv(worker_environment::meeting_file);
    const auto rank = number_from_environment(worker_environment::rank), ranks = number_from_environment(worker_environment::ranks);
    if (file == nullptr || !rank || !ranks) return std::nullopt;
    return RankPlace{.rank = *rank, .size = *ranks, .local_rank = *rank, .store_file = file};
}

Result<RunClaim> claim(const RunFolder& folder) {
    if (const auto inherited = number_from_environment(worker_environment::lock_descriptor)) {
        return RunClaim::adopt(folder, static_cast<int>(*inherited));
    }
    return RunClaim::take(folder);
}

}  // namespace

int run_worker(const std::filesystem::path& run_folder, const EngineLoader& loader) {
    const RunFolder folder{run_folder};
    const int signals = open_signals();
    const int channel = static_cast<int>(number_from_environment(worker_environment::channel).value_or(-1));
    const auto lock = claim(folder);
    if (!lock) {
        log::error(describe(lock.error()));
        tell_supervisor(channel, {RunState::Failed, describe(lock.error()), exit_code(lock.error().code)});
        return exit_code(lock.error().code);
    }
    RunControl control;
    post_first_commands(control);
    RunResult result;
    const auto gate = join_turns(control);
    if (!gate) {
        result = {RunState::Failed, describe(gate.error()), exit_code(gate.error().code)};
        if (!launch_files::write_state(folder, result.state, result.reason, result.exit_code))
            log::error(result.reason);
    } else {
        const int ended = ::eventfd(0, EFD_CLOEXEC);
        const auto ranks = place_among_ranks();
        const std::jthread worker([&] {
            result = execute_run(folder, control, gate->get(), loader,
                                 [](const std::string& line) { log::info(line); }, ranks ? &*ranks : nullptr);
            ::eventfd_write(ended, 1);
        });
        CommandListener(control, signals, channel, ended).listen_until_end();
    }
    tell_supervisor(channel, result);
    return result.exit_code;
}

namespace {

struct TrialAnswer {
    TrialReport report;
    int code = 0;
    std::int64_t device_memory_bytes = 0;
};

TrialAnswer refused(TrialAnswer answer, const Error& error) {
    answer.report.runs = false;
    answer.report.refusal = describe(error);
    answer.code = exit_code(error.code);
    return answer;
}

std::int64_t memory_of_device(const EngineApi& engine, const std::string& device) {
    const auto probe = engine.probe();
    if (!probe) return 0;
    for (const auto& report : probe->devices) {
        if (report.id == device) return report.memory_bytes;
    }
    return 0;
}

TrialAnswer try_mode(const std::filesystem::path& plan_file, Precision mode, const EngineLoader& loader) {
    TrialAnswer answer;
    answer.report.mode = answer.report.choice.requested = answer.report.choice.effective = mode;
    auto plan = launch_files::read_run_plan(plan_file);
    if (!plan) return refused(answer, plan.error());
    plan->mixed_precision = mode;
    if (const auto trusted = require_trusted_model(*plan); !trusted) return refused(answer, trusted.error());
    const auto engine = loader ? loader() : load_engine();
    if (!engine) return refused(answer, engine.error());
    const auto choice = (*engine)->choose_precision(*plan, mode);
    if (!choice) {
        answer.report.choice.support = Support::Unsupported;
        answer.report.choice.reason = choice.error().message;
        return refused(answer, choice.error());
    }
    answer.report.choice = *choice;
    const auto report = (*engine)->trial(*plan, mode);
    if (!report) return refused(answer, report.error());
    answer.report = *report;
    if (!report->runs) answer.code = exit_code(ErrorCode::UnsupportedPrecision);
    // The machine's memory is asked for without torch; a GPU's only through its own driver.
    const std::string device = settled_device(**engine, *plan);
    if (device != "cpu") answer.device_memory_bytes = memory_of_device(**engine, device);
    return answer;
}

}  // namespace

int run_trial(const std::filesystem::path& plan_file, Precision mode, const std::filesystem::path& out_file,
              const EngineLoader& loader) {
    std::signal(SIGUSR1, SIG_IGN);  // Slurm's warning goes to all processes; the supervisor ends the trial
    const TrialAnswer answer = try_mode(plan_file, mode, loader);
    const nlohmann::json json{{"report", to_json(answer.report)},
                              {"exit_code", answer.code},
                              {"device_memory_bytes", answer.device_memory_bytes}};
    const std::string text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (const auto written = write_file_atomically(out_file, text); !written) {
        log::error(describe(written.error()));
        return exit_code(written.error().code);
    }
    if (!answer.report.runs) log::error(answer.report.refusal);
    return answer.code;
}

}  // namespace mantissa
