#pragma once
// Commands to a running training loop, the same in all scopes. Threads: anyone may post; the training thread
// calls `at_step_edge` between steps, and blocks there while paused.
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

enum class ControlCommand { Pause, Resume, Step, Checkpoint, Stop, Interrupt, Watch0, Watch1, Watch2 };
inline constexpr std::size_t control_command_count = 9;
[[nodiscard]] const char* to_string(ControlCommand command);  // "pause" ...
[[nodiscard]] std::optional<ControlCommand> parse_control_command(std::string_view text);

class RunControl {
  public:
    enum class Next { Go, Stop, Interrupt };

    /// Pause and Resume switch; Step lets a paused (or running) run make one more step and then wait; Stop
    /// and Interrupt end the run at the next step edge, also a paused one; of the two, Interrupt is the one
    /// that is reported. Checkpoint is served at the next step edge, by a paused run at once, which goes on
    /// waiting; several that come before that are one.
    void post(ControlCommand command);
    /// Called before every step. `on_pause` is told true when the run starts to wait, false when it goes on;
    /// `on_checkpoint` saves the state between two steps.
    Next at_step_edge(const std::function<void(bool paused)>& on_pause,
                      const std::function<void()>& on_checkpoint = {});
    /// For loops that decide together with other processes: what was asked for here, without waiting. A request for a checkpoint is
    /// taken by it.
    struct Edge {
        bool waits = false, stop = false, interrupt = false, checkpoint = false;
    };
    [[nodiscard]] Edge take_edge();
    /// Until a command comes, at most so long.
    void wait_for_command(std::chrono::milliseconds longest);
    /// The step that such an edge let go has begun.
    void count_step();
    /// What the edge before step `next_step` says of a command that is obeyed there: "asked for in step 41", "asked for before its first
    /// step"; for a pause that a single step led to "one step was asked for"; empty for one that never came to this process. So a record
    /// proves by itself that commands act within one step.
    [[nodiscard]] std::string asked(ControlCommand command, std::int64_t next_step) const;
    /// "before step 42, asked for in step 41"
    [[nodiscard]] std::string obeyed(ControlCommand command, std::int64_t next_step) const;
    /// Told as `on_pause` is: the turn of a run that waits is free.
    void tell_wait_hook(bool waiting) const {
        if (m_wait_hook) m_wait_hook(waiting);
    }
    /// True once for a checkpoint that was asked for since the last edge (while the run waited for its turn).
    [[nodiscard]] bool take_checkpoint_request();
    /// The level of watching that was last asked for (Watch0 …); empty: the plan's.
    [[nodiscard]] std::optional<int> watch_level() const;
    /// True once a stop or an interrupt was posted (for long evaluations and waits for a turn).
    [[nodiscard]] bool is_ending() const;
    /// True while the next step edge would wait.
    [[nodiscard]] bool is_paused() const;
    /// The loop pauses itself (on_nonfinite = pause).
    void pause_here() { post(ControlCommand::Pause); }
    /// Told like `on_pause`, on the training thread: launch frees the run's turn for the time of the wait.
    /// Set before the run.
    void set_wait_hook(std::function<void(bool waiting)> hook) { m_wait_hook = std::move(hook); }

  private:
    static constexpr std::array<std::int64_t, control_command_count> no_command_yet() {
        std::array<std::int64_t, control_command_count> none{};
        none.fill(-1);
        return none;
    }
    [[nodiscard]] bool must_wait() const {
        return m_paused && m_single_steps == 0 && !m_stop && !m_interrupt;
    }

    void serve_checkpoint(std::unique_lock<std::mutex>& lock, const std::function<void()>& on_checkpoint);

    mutable std::mutex m_mutex;  // protects all below but the hook
    std::condition_variable m_changed;
    bool m_paused = false;
    std::int64_t m_single_steps = 0;
    bool m_stop = false, m_interrupt = false, m_checkpoint = false;
    std::int64_t m_steps_begun = 0;
    bool m_is_decided = false;  // take_edge() has looked, and the step that it lets go has not been counted yet
    std::array<std::int64_t, control_command_count> m_asked_after = no_command_yet();  // steps begun when the command last came; -1: never
    std::optional<int> m_watch_level;
    std::function<void(bool)> m_wait_hook;
};

/// Lets runs of a comparison take turns (launch/turns.h). Called at step edges by the training thread;
/// `wait_for_turn` may block, and returns early when `control` is ending.
class StepGate {
  public:
    virtual ~StepGate() = default;
    /// Told true when a run begins to wait for its turn, false when it has it. Set before the run.
    virtual void on_waiting(std::function<void(bool waits)> /*listener*/) {}
    virtual void wait_for_turn(std::int64_t next_step, const RunControl& control) = 0;
    virtual void run_ended() = 0;
};

}  // namespace mantissa
