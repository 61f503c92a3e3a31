#include "launch/timed_child.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/clock.h"

namespace mantissa {

Result<TimedChild> TimedChild::start(const SpawnRequest& request, std::chrono::seconds limit) {
    TimedChild child;
    child.m_limit = limit;
    child.m_started_ns = monotonic_ns();
    auto pid = spawn(request);
    if (!pid) return pid.error();
    child.m_pid = *pid;
    return child;
}

TimedChild::TimedChild(TimedChild&& other) noexcept { *this = std::move(other); }

TimedChild& TimedChild::operator=(TimedChild&& other) noexcept {
    std::swap(m_pid, other.m_pid);
    std::swap(m_limit, other.m_limit);
    std::swap(m_started_ns, other.m_started_ns);
    std::swap(m_is_timed_out, other.m_is_timed_out);
    return *this;
}

TimedChild::~TimedChild() {
    if (m_pid <= 0) return;
    ::kill(m_pid, SIGKILL);
    while (::waitpid(m_pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

double TimedChild::seconds() const { return static_cast<double>(monotonic_ns() - m_started_ns) * 1e-9; }

std::optional<TimedChild::End> TimedChild::poll() {
    if (m_pid <= 0) return std::nullopt;
    int status = 0;
    const pid_t ended = ::waitpid(m_pid, &status, WNOHANG);
    if (ended == 0) {
        if (!m_is_timed_out && seconds() >= static_cast<double>(m_limit.count())) {
            m_is_timed_out = true;
            ::kill(m_pid, SIGKILL);
        }
        return std::nullopt;
    }
    if (ended < 0 && errno == EINTR) return std::nullopt;
    m_pid = -1;
    return End{ended < 0 ? std::nullopt : std::optional<int>(status), m_is_timed_out};
}

std::string TimedChild::sentence(const std::string& what, const End& end) const {
    if (end.is_timed_out) return what + " did not end within " + std::to_string(m_limit.count()) + " s and was killed";
    if (!end.wait_status) return "the process of " + what + " was lost";
    return what + " gave no answer: its process was " + describe_wait_status(*end.wait_status);
}

}  // namespace mantissa
