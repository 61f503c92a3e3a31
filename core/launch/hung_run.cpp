#include "launch/hung_run.h"

#include "base/clock.h"

namespace mantissa {
namespace {

constexpr std::int64_t look_every_ns = 250'000'000;

}  // namespace

std::string describe_stall(const Stall& stall) {
    std::string text = "no progress for " + std::to_string(stall.seconds) + " s " +
                       (stall.last_step ? "at step " + std::to_string(*stall.last_step) : std::string("before its first step"));
    if (stall.activity == Activity::Evaluating) text += ", in an evaluation";
    if (stall.activity == Activity::Saving) text += ", while it saves";
    if (!stall.has_pulse) text += stall.rank ? ": rank " + std::to_string(*stall.rank) + " gives no sign of life" : ": its process gives no sign of life";
    return text;
}

HungRun::Act HungRun::look(const RunFolder& folder) {
    const std::int64_t now = monotonic_ns();
    if (!m_is_asked || !m_said.empty() || now - m_looked_ns < look_every_ns) return Act::None;
    m_looked_ns = now;
    const auto stall = find_stall(read_lives(folder.path), RunState::Running, now_ns());
    if (!stall) {
        m_terminated_ns = 0;  // it moves again: it will come to its edge
        return Act::None;
    }
    if (m_terminated_ns == 0) {
        m_terminated_ns = now;
        return Act::Terminate;
    }
    if (now - m_terminated_ns < killed_after_ns) return Act::None;
    m_said = "stopped: " + describe_stall(*stall) + ", and SIGTERM did not end it within 5 s, so it was killed; all that was recorded stays";
    return Act::Kill;
}

}  // namespace mantissa
