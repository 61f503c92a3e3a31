#include "host/run_control.h"

#include <array>
#include <utility>

namespace mantissa {

namespace {
constexpr std::array<std::pair<ControlCommand, const char*>, control_command_count> command_names{{
    {ControlCommand::Pause, "pause"},
    {ControlCommand::Resume, "resume"},
    {ControlCommand::Step, "step"},
    {ControlCommand::Checkpoint, "checkpoint"},
    {ControlCommand::Stop, "stop"},
    {ControlCommand::Interrupt, "interrupt"},
    {ControlCommand::Watch0, "watch0"},
    {ControlCommand::Watch1, "watch1"},
    {ControlCommand::Watch2, "watch2"},
}};
}  // namespace

const char* to_string(ControlCommand command) {
    for (const auto& [value, name] : command_names) {
        if (value == command) return name;
    }
    return "";
}

std::optional<ControlCommand> parse_control_command(std::string_view text) {
    for (const auto& [value, name] : command_names) {
        if (text == name) return value;
    }
    return std::nullopt;
}

void RunControl::post(ControlCommand command) {
    {
        const std::lock_guard lock(m_mutex);
        m_asked_after.at(static_cast<std::size_t>(command)) = m_steps_begun + (m_is_decided ? 1 : 0);
        switch (command) {
            case ControlCommand::Pause:
                m_paused = true;
                m_single_steps = 0;
                break;
            case ControlCommand::Resume:
                m_paused = false;
                m_single_steps = 0;
                break;
            case ControlCommand::Step:
                m_paused = true;
                ++m_single_steps;
                break;
            case ControlCommand::Checkpoint:
                m_checkpoint = true;
                break;
            case ControlCommand::Stop:
                m_stop = true;
                break;
            case ControlCommand::Interrupt:
                m_interrupt = true;
                break;
            case ControlCommand::Watch0:
                m_watch_level = 0;
                break;
            case ControlCommand::Watch1:
                m_watch_level = 1;
                break;
            case ControlCommand::Watch2:
                m_watch_level = 2;
                break;
        }
    }
    m_changed.notify_all();
}

void RunControl::serve_checkpoint(std::unique_lock<std::mutex>& lock,
                                  const std::function<void()>& on_checkpoint) {
    if (!std::exchange(m_checkpoint, false) || !on_checkpoint) return;
    // Saving waits for a disk: a command must not wait with it.
    lock.unlock();
    on_checkpoint();
    lock.lock();
}

RunControl::Next RunControl::at_step_edge(const std::function<void(bool paused)>& on_pause,
                                          const std::function<void()>& on_checkpoint) {
    std::unique_lock lock(m_mutex);
    serve_checkpoint(lock, on_checkpoint);
    if (must_wait()) {
        // The callbacks write to the recording and free a turn: never under the lock, or a command would wait
        // for a disk.
        lock.unlock();
        if (m_wait_hook) m_wait_hook(true);
        if (on_pause) on_pause(true);
        lock.lock();
        while (must_wait()) {
            m_changed.wait(lock, [this] { return !must_wait() || m_checkpoint; });
            serve_checkpoint(lock, on_checkpoint);
        }
        lock.unlock();
        if (on_pause) on_pause(false);
        if (m_wait_hook) m_wait_hook(false);
        lock.lock();
    }
    if (m_interrupt) return Next::Interrupt;
    if (m_stop) return Next::Stop;
    if (m_paused && m_single_steps > 0) --m_single_steps;
    ++m_steps_begun;
    return Next::Go;
}

RunControl::Edge RunControl::take_edge() {
    const std::lock_guard lock(m_mutex);
    m_is_decided = true;
    return {must_wait(), m_stop, m_interrupt, std::exchange(m_checkpoint, false)};
}

void RunControl::wait_for_command(std::chrono::milliseconds longest) {
    std::unique_lock lock(m_mutex);
    m_is_decided = false;  // what comes now is looked at again
    m_changed.wait_for(lock, longest, [this] { return !must_wait() || m_checkpoint; });
}

void RunControl::count_step() {
    const std::lock_guard lock(m_mutex);
    if (m_paused && m_single_steps > 0) --m_single_steps;
    ++m_steps_begun;
    m_is_decided = false;
}

std::string RunControl::asked(ControlCommand command, std::int64_t next_step) const {
    const std::lock_guard lock(m_mutex);
    const std::int64_t after = m_asked_after.at(static_cast<std::size_t>(command));
    if (after < 0) return {};
    if (command == ControlCommand::Pause && m_asked_after.at(static_cast<std::size_t>(ControlCommand::Step)) >= after)
        return "one step was asked for";
    // Steps count from where the run began, which may be a checkpoint.
    const std::int64_t in_step = next_step - 1 - (m_steps_begun - after);
    return after == 0 ? "asked for before its first step" : "asked for in step " + std::to_string(in_step);
}

std::string RunControl::obeyed(ControlCommand command, std::int64_t next_step) const {
    const std::string told = asked(command, next_step);
    return "before step " + std::to_string(next_step) + (told.empty() ? "" : ", " + told);
}

bool RunControl::take_checkpoint_request() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_checkpoint, false);
}

std::optional<int> RunControl::watch_level() const {
    const std::lock_guard lock(m_mutex);
    return m_watch_level;
}

bool RunControl::is_ending() const {
    const std::lock_guard lock(m_mutex);
    return m_stop || m_interrupt;
}

bool RunControl::is_paused() const {
    const std::lock_guard lock(m_mutex);
    return must_wait();
}

}  // namespace mantissa
