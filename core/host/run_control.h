#pragma once
// Commands to a running training loop, the same in all scopes. Threads: anyone may post; the training thread calls
// `at_step_edge` between steps, and blocks there while paused.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

enum class ControlCommand { Pause, Resume, Step, Checkpoint, Stop, Interrupt };
[[nodiscard]] const char* to_string(ControlCommand command);  // "pause" ...
[[nodiscard]] std::optional<ControlCommand> parse_control_command(std::string_view text);

class RunControl {
  public:
    enum class Next { Go, Stop, Interrupt };

    void post(ControlCommand command);
    /// Called before every step. `on_pause` is told true when the run starts to wait, false when it goes on.
    Next at_step_edge(const std::function<void(bool paused)>& on_pause);
    /// True once a stop or an interrupt was posted (for long evaluations and waits for a turn).
    [[nodiscard]] bool is_ending() const;
    /// The loop pauses itself (on_nonfinite = pause).
    void pause_here() { post(ControlCommand::Pause); }

  private:
    mutable std::mutex m_mutex;  // protects all below
    std::condition_variable m_changed;
    bool m_paused = false;
    std::int64_t m_single_steps = 0;
    bool m_stop = false, m_interrupt = false;
};

/// Lets runs of a comparison take turns (launch/turns.h). Called at step edges by the training thread; `wait_for_turn`
/// may block, and returns early when `control` is ending.
class StepGate {
  public:
    virtual ~StepGate() = default;
    virtual void wait_for_turn(std::int64_t next_step, const RunControl& control) = 0;
    virtual void run_ended() = 0;
};

}  // namespace mantissa
