#include "launch/worker_group.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "launch/child_process.h"
#include "launch/supervisor.h"
#include "launch/worker_environment.h"
#include "record/rank_file.h"

namespace mantissa {
namespace {

// A run that ends by its own rules ends so on all ranks.
bool is_good(int wait_status) {
    if (!WIFEXITED(wait_status)) return false;
    const int code = WEXITSTATUS(wait_status);
    return code == 0 || code == exit_code(ErrorCode::NonFinite) || code == exit_code(ErrorCode::Interrupted);
}

/// The sentence of a worker that failed, when even its recording could not take it.
std::string last_words_from(int channel) {
    std::string text;
    std::array<char, 1024> bytes{};
    while (true) {
        const ssize_t count = ::recv(channel, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count <= 0) break;
        text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("failed") || !json["failed"].is_string()) return {};
    return json["failed"].get<std::string>();
}

Error system_error(const std::string& what) { return {ErrorCode::Internal, what + ": " + std::strerror(errno), ""}; }

}  // namespace

WorkerGroup::~WorkerGroup() {
    for (const Member& member : m_members) {
        if (member.channel >= 0) ::close(member.channel);
    }
}

WorkerGroup::WorkerGroup(WorkerGroup&& other) noexcept { *this = std::move(other); }

WorkerGroup& WorkerGroup::operator=(WorkerGroup&& other) noexcept {
    std::swap(m_members, other.m_members);
    std::swap(m_meeting_place, other.m_meeting_place);
    std::swap(m_first_end_ns, other.m_first_end_ns);
    std::swap(m_was_asked, other.m_was_asked);
    return *this;
}

Result<void> WorkerGroup::start(const RunFolder& folder, const RunClaim& claim, const Settings& given) {
    Settings settings = given;
    if (settings.processes > 1) {
        auto place = WorkFolder::make("ranks");
        if (!place) return Error{place.error().code, "the processes have no place to meet: " + place.error().message, place.error().hint};
        m_meeting_place = std::move(*place);
        settings.environment.emplace_back(worker_environment::meeting_file, (m_meeting_place.path() / "store").string());
        settings.environment.emplace_back(worker_environment::ranks, std::to_string(settings.processes));
    }
    for (std::int64_t rank = 0; rank < settings.processes; ++rank) {
        if (const auto started = start_one(folder, claim, settings, rank); !started) {
            kill_all();
            for (Member& member : m_members) {
                int status = 0;
                ::waitpid(member.pid, &status, 0);
                ::close(member.channel);
            }
            m_members.clear();
            return started;
        }
    }
    return {};
}

Result<void> WorkerGroup::start_one(const RunFolder& folder, const RunClaim& claim, const Settings& settings, std::int64_t rank) {
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return system_error("no channel to the worker");
    SpawnRequest request;
    request.program = mantissa_program();
    request.arguments = {"worker", folder.path.string()};
    request.environment = settings.environment;
    if (rank == 0) {
        request.environment.insert(request.environment.end(), settings.main_environment.begin(), settings.main_environment.end());
    }
    request.environment.emplace_back(worker_environment::rank, std::to_string(rank));
    request.environment.emplace_back(worker_environment::channel, std::to_string(pair[1]));
    request.environment.emplace_back(worker_environment::lock_descriptor, std::to_string(claim.descriptor()));
    request.inherited = {pair[1], claim.descriptor()};
    request.log_file = rank_log(folder.path, rank);
    const auto pid = spawn(request);
    ::close(pair[1]);
    if (!pid) {
        ::close(pair[0]);
        return pid.error();
    }
    m_members.push_back({*pid, pair[0], {}, {}, false});
    log::info((settings.processes > 1 ? "rank " + std::to_string(rank) + ": " : std::string()) + "worker process " +
              std::to_string(*pid) + " started");
    return {};
}

std::optional<WorkerGroup::End> WorkerGroup::poll() {
    for (std::size_t rank = 0; rank < m_members.size(); ++rank) {
        Member& member = m_members[rank];
        int status = 0;
        if (member.wait_status || ::waitpid(member.pid, &status, WNOHANG) != member.pid) continue;
        take_end(member, status);
        if (m_members.size() > 1) log::info("rank " + std::to_string(rank) + " " + describe_wait_status(status));
        if (m_first_end_ns == 0 && (rank == 0 || !is_good(status))) m_first_end_ns = monotonic_ns();
    }
    const bool all_ended = std::all_of(m_members.begin(), m_members.end(), [](const Member& one) { return one.wait_status.has_value(); });
    if (m_members.empty()) return std::nullopt;
    if (!all_ended) {
        if (m_first_end_ns != 0) end_the_rest();
        return std::nullopt;
    }
    const std::size_t told = culprit();
    End end{static_cast<std::int64_t>(told), *m_members[told].wait_status, m_members[told].last_words};
    m_members.clear();
    m_meeting_place = WorkFolder();
    m_first_end_ns = 0;
    m_was_asked = false;
    return end;
}

void WorkerGroup::take_end(Member& member, int wait_status) {
    member.wait_status = wait_status;
    member.last_words = last_words_from(member.channel);
    ::close(member.channel);
    member.channel = -1;
}

void WorkerGroup::end_the_rest() {
    const std::int64_t waited = monotonic_ns() - m_first_end_ns;
    if (!m_was_asked) {
        m_was_asked = true;
        ask_all();
    }
    if (waited < killed_after_ns) return;
    for (Member& one : m_members) {
        if (one.wait_status || one.was_killed_here) continue;
        one.was_killed_here = true;
        ::kill(one.pid, SIGKILL);
    }
}

// A process that lost the others is a consequence; one that was killed here is one, too.
std::size_t WorkerGroup::culprit() const {
    const auto guilt = [](const Member& one) {
        // One that had to be killed here takes nothing away from how the main process ended.
        if (is_good(*one.wait_status) || one.was_killed_here) return 0;
        if (WIFEXITED(*one.wait_status) && WEXITSTATUS(*one.wait_status) == exit_code(ErrorCode::WorkerLost)) return 2;
        return WIFSIGNALED(*one.wait_status) ? 4 : 3;
    };
    std::size_t worst = 0;
    for (std::size_t rank = 1; rank < m_members.size(); ++rank) {
        if (guilt(m_members[rank]) > guilt(m_members[worst])) worst = rank;
    }
    return worst;
}

Result<void> WorkerGroup::send(const std::string& line) const {
    if (m_members.empty() || m_members.front().channel < 0) return Error{ErrorCode::InputOutput, "its worker has ended", ""};
    if (::send(m_members.front().channel, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        return Error{ErrorCode::InputOutput, std::strerror(errno), ""};
    }
    return {};
}

void WorkerGroup::ask_all() {
    for (const Member& one : m_members) {
        if (!one.wait_status) ::kill(one.pid, SIGTERM);
    }
}

void WorkerGroup::kill_all() {
    for (Member& one : m_members) {
        if (one.wait_status) continue;
        one.was_killed_here = true;
        ::kill(one.pid, SIGKILL);
    }
}

}  // namespace mantissa
