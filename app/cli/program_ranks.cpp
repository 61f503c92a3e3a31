#include "program_ranks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>

#include "base/clock.h"
#include "base/numbers.h"
#include "launch/child_process.h"
#include "output.h"
#include "signals.h"

namespace mantissa::cli {
namespace {

constexpr std::int64_t accelerates_port = 29500;
constexpr std::int64_t killed_after_ns = 5'000'000'000;
constexpr long look_again_ns = 50'000'000;

struct Given {
    std::string text, name;  // "--machine_rank", "c.yaml: machine_rank"
};

std::optional<Given> given(const LaunchFlags& flags, const AcceleratePlaces& file, const std::string& key) {
    if (const auto flag = flags.value(key)) return Given{*flag, "--" + key};
    const auto there = file.values.find(key);
    if (there == file.values.end()) return std::nullopt;
    return Given{there->second, file.file + ": " + key};
}

Result<std::int64_t> whole(const std::optional<Given>& value, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
    if (!value) return otherwise;
    const auto number = parse_int(value->text);
    if (number && *number >= least && *number <= most) return *number;
    return Error{ErrorCode::BadPlan, value->name + " is \"" + value->text.substr(0, 60) + "\"",
                 "use a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
}

/// The port, or a free one for 0; an Error when another program has it.
Result<std::int64_t> usable_port(std::int64_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof address;
    const int reuse = 1;  // as the program itself: a connection that was just closed is no reason
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    const bool is_mine = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(socket, 1) == 0 &&
                         ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    const int reason = errno;
    ::close(socket);
    if (is_mine) return static_cast<std::int64_t>(ntohs(address.sin_port));
    return Error{ErrorCode::InputOutput, "the processes can't meet at port " + std::to_string(port) + ": " + std::strerror(reason),
                 "name another one with --main_process_port; 0 takes a free one"};
}

struct Rank {
    std::int64_t rank = 0;
    pid_t pid = -1;
    std::optional<int> wait_status;
    bool was_ended_here = false;
};

std::string told(const Rank& one) { return "rank " + std::to_string(one.rank) + " (process " + std::to_string(one.pid) + ")"; }

void set_place(const ProgramRanks& ranks, std::int64_t local) {
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
    set("RANK", std::to_string(ranks.machine_rank * ranks.here() + local));
    set("LOCAL_RANK", std::to_string(local));
    set("WORLD_SIZE", std::to_string(ranks.processes));
    set("LOCAL_WORLD_SIZE", std::to_string(ranks.here()));
    set("GROUP_RANK", std::to_string(ranks.machine_rank));
    set("GROUP_WORLD_SIZE", std::to_string(ranks.machines));
    set("ROLE_RANK", std::to_string(ranks.machine_rank * ranks.here() + local));
    set("ROLE_WORLD_SIZE", std::to_string(ranks.processes));
    set("MASTER_ADDR", ranks.host);
    set("MASTER_PORT", std::to_string(ranks.port));
    set("TORCHELASTIC_RESTART_COUNT", "0");
    ::unsetenv("TORCHELASTIC_USE_AGENT_STORE");  // process 0 keeps the meeting point itself
    if (ranks.takes_gpus) set("ACCELERATE_TORCH_DEVICE", "cuda:" + std::to_string(local));
}

[[noreturn]] void become(const std::vector<std::string>& command, const ProgramRanks& ranks, std::int64_t local, int failure) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would end them
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    set_place(ranks, local);
    std::vector<char*> arguments;
    for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    const int reason = errno;
    static_cast<void>(!::write(failure, &reason, sizeof reason));
    ::_exit(127);
}

Result<pid_t> start_one(const std::vector<std::string>& command, const ProgramRanks& ranks, std::int64_t local) {
    std::array<int, 2> failure{-1, -1};
    if (::pipe2(failure.data(), O_CLOEXEC) != 0) return Error{ErrorCode::Internal, std::string("no pipe: ") + std::strerror(errno), ""};
    std::fflush(nullptr);
    const pid_t pid = ::fork();  // this verb has one thread
    if (pid == 0) become(command, ranks, local, failure[1]);
    const int fork_failed = errno;
    ::close(failure[1]);
    int reason = pid < 0 ? fork_failed : 0;
    if (pid > 0 && ::read(failure[0], &reason, sizeof reason) > 0) ::waitpid(pid, nullptr, 0);
    ::close(failure[0]);
    if (reason == 0) return pid;
    return Error{ErrorCode::Usage, "can't start " + command.front() + ": " + std::strerror(reason), "name a program, a plan file or a preset"};
}

class Group {
  public:
    explicit Group(bool quiet) : m_quiet(quiet) {}

    Result<void> start(const std::vector<std::string>& command, const ProgramRanks& ranks) {
        for (std::int64_t local = 0; local < ranks.here(); ++local) {
            const auto pid = start_one(command, ranks, local);
            if (!pid) {
                end_rest(SIGKILL);
                for (const Rank& one : m_ranks) ::waitpid(one.pid, nullptr, 0);
                return pid.error();
            }
            m_ranks.push_back({ranks.machine_rank * ranks.here() + local, *pid, {}, false});
        }
        return {};
    }

    int wait() {
        sigset_t child;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        while (true) {
            look();
            if (std::all_of(m_ranks.begin(), m_ranks.end(), [](const Rank& one) { return one.wait_status.has_value(); })) return code();
            const SignalCounts signals = signal_counts();
            if (m_ending_since == 0 && signals.interrupts + signals.terminations > 0) {
                m_code = signals.interrupts > 0 ? exit_code(ErrorCode::Interrupted) : 128 + SIGTERM;
                begin_end();
            }
            if (m_ending_since != 0 && monotonic_ns() - m_ending_since > killed_after_ns) end_rest(SIGKILL);
            const timespec limit{0, look_again_ns};
            ::sigtimedwait(&child, nullptr, &limit);
        }
    }

  private:
    void look() {
        for (Rank& one : m_ranks) {
            int status = 0;
            if (one.wait_status || ::waitpid(one.pid, &status, WNOHANG) != one.pid) continue;
            one.wait_status = status;
            const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            if (is_good || m_ending_since != 0) continue;
            const auto left = std::count_if(m_ranks.begin(), m_ranks.end(), [](const Rank& other) { return !other.wait_status; });
            std::fprintf(stderr, "mantissa: %s %s%s%s\n", told(one).c_str(), WIFSIGNALED(status) ? "was " : "",
                         describe_wait_status(status).c_str(),
                         left == 0 ? "" : "; the other ranks are asked to end");
            m_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            begin_end();
        }
    }
    void begin_end() {
        m_ending_since = monotonic_ns();
        end_rest(SIGTERM);
    }
    void end_rest(int signal) {
        for (Rank& one : m_ranks) {
            if (one.wait_status || (signal == SIGKILL && one.was_ended_here)) continue;
            one.was_ended_here = signal == SIGKILL;
            if (signal == SIGKILL && !m_quiet) std::fprintf(stderr, "mantissa: %s didn't end within 5 s and is killed\n", told(one).c_str());
            ::kill(one.pid, signal);
        }
    }
    [[nodiscard]] int code() const { return m_code; }

    std::vector<Rank> m_ranks;
    bool m_quiet;
    std::int64_t m_ending_since = 0;  // 0: nobody was asked to end
    int m_code = 0;
};

}  // namespace

Result<ProgramRanks> program_ranks(const LaunchFlags& flags, const AcceleratePlaces& file, std::int64_t processes) {
    ProgramRanks ranks;
    ranks.processes = processes;
    ranks.takes_gpus = flags.wants_gpus();
    const auto machines = whole(given(flags, file, "num_machines"), 1, 1, 4096);
    if (!machines) return machines.error();
    ranks.machines = *machines;
    const auto machine = given(flags, file, "machine_rank");
    const auto rank = whole(machine, 0, 0, ranks.machines - 1);
    if (!rank) return rank.error();
    ranks.machine_rank = *rank;
    if (ranks.takes_gpus && processes < 2)
        return Error{ErrorCode::BadPlan, "--multi_gpu trains in several processes, and num_processes is " + std::to_string(processes),
                     "say how many with --num_processes, one for each GPU"};
    if (processes % ranks.machines != 0)
        return Error{ErrorCode::BadPlan,
                     "num_processes is " + std::to_string(processes) + ", which can't be divided by " + std::to_string(ranks.machines) + " machines",
                     "num_processes counts those of all machines together"};
    const auto host = given(flags, file, "main_process_ip");
    if (ranks.machines > 1 && !host)
        return Error{ErrorCode::BadPlan, "num_machines is " + std::to_string(ranks.machines) + " and main_process_ip is missing",
                     "say on every machine where the first one is: --main_process_ip HOST"};
    if (host) ranks.host = host->text;
    // On one machine nobody else must know it.
    const auto port = whole(given(flags, file, "main_process_port"), ranks.machines > 1 ? accelerates_port : 0, 0, 65535);
    if (!port) return port.error();
    if (*port == 0 && ranks.machines > 1)
        return Error{ErrorCode::BadPlan, "main_process_port is 0, a free one: the other machines can't know it", "name one, the same on all machines"};
    ranks.port = *port;
    return ranks;
}

Result<void> settle_port(ProgramRanks& ranks) {
    if (ranks.machine_rank > 0) return {};
    const auto usable = usable_port(ranks.port);
    if (!usable) return usable.error();
    ranks.port = *usable;
    return {};
}

int run_ranks(const std::vector<std::string>& command, const ProgramRanks& ranks, bool quiet) {
    catch_signals();
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);  // it is waited for
    Group group(quiet);
    if (const auto started = group.start(command, ranks); !started) return fail(started.error());
    return group.wait();
}

}  // namespace mantissa::cli
