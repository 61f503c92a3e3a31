#include "pacer.h"

#include <algorithm>
#include <limits>

namespace mantissa::cli {

int Pacer::wait_ms() const { return is_on() ? std::clamp(static_cast<int>(1000 / m_pace), 5, 100) : 100; }

void Pacer::send() {
    if (!m_client) {
        auto client = ControlClient::connect(m_folder, ControlRole::Shell);
        if (!client) return;  // the supervisor is ending
        m_client.emplace(std::move(*client));
    }
    while (m_client->take_event()) continue;
    if (m_client->send("step")) ++m_sent;
}

void Pacer::tick(const std::vector<RunProgress>& runs) {
    std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
    bool is_going = false;
    for (const RunProgress& run : runs) {
        if (run.state == RunState::Queued || run.state == RunState::Trial) {
            if (m_sent == 0) send();  // a command before the start says how it starts: with one step
            return;
        }
        if (is_end_state(run.state)) continue;
        is_going = true;
        slowest = std::min(slowest, run.steps);
    }
    if (!is_going) return;
    const auto now = std::chrono::steady_clock::now();
    if (!m_start) m_start = now;
    const double due = std::chrono::duration<double>(now - *m_start).count() * m_pace;
    // Those that a slow run hasn't obeyed would pile up.
    const auto limit = std::min(static_cast<std::int64_t>(due) + 1, slowest + static_cast<std::int64_t>(m_pace / 3) + 2);
    while (m_sent < limit) {
        const std::int64_t before = m_sent;
        send();
        if (m_sent == before) return;
    }
}

}  // namespace mantissa::cli
