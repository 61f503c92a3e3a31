#pragma once
// Turns of a comparison (design §5): the run with the fewest steps goes next, for at least half a second, to
// a step edge. The turn is a flock on <comparison>/turn.lock, which the kernel frees when its holder dies.
// Step counts and who waits stand in <comparison>/turn.steps, a small mapped table with one slot per run; a
// slot is alive as long as its worker holds a lock on its byte of that file, so a killed worker is never
// waited for.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/result.h"
#include "host/run_control.h"

namespace mantissa {

class TurnGate final : public StepGate {
  public:
    /// `slot` is the position of the run among the comparison's modes.
    static Result<std::unique_ptr<TurnGate>> join(
        const std::filesystem::path& comparison_folder, std::size_t slot,
        std::chrono::milliseconds turn = std::chrono::milliseconds(500));
    ~TurnGate() override;

    void wait_for_turn(std::int64_t next_step, const RunControl& control) override;
    void run_ended() override;
    void on_waiting(std::function<void(bool waits)> listener) override { m_on_waiting = std::move(listener); }
    /// For RunControl::set_wait_hook: a paused run gives its turn away, and takes one again before it goes
    /// on.
    void paused(bool waiting, const RunControl& control);

    struct Table;  // layout of turn.steps (turns.cpp)

  private:
    TurnGate() = default;
    [[nodiscard]] bool is_first_in_line() const;
    [[nodiscard]] bool is_waiting(std::size_t slot) const;
    [[nodiscard]] bool has_alive_worker(std::size_t slot) const;
    void take_turn(const RunControl& control);
    void give_turn();

    Table* m_table = nullptr;
    int m_steps_descriptor = -1, m_turn_descriptor = -1;
    std::size_t m_slot = 0;
    std::int64_t m_turn_ns = 0;
    std::int64_t m_turn_started_ns = 0;
    bool m_has_turn = false, m_ended = false;
    std::function<void(bool)> m_on_waiting;
};

inline constexpr std::size_t most_turn_slots = 16;

/// The step that a run stood at when it last asked for its turn: outlives its process. 0 when there is no
/// table.
[[nodiscard]] std::int64_t read_turn_steps(const std::filesystem::path& comparison_folder, std::size_t slot);

/// The supervisor's hand on the turn until all runs stand at their first step: a process that still loads
/// LibTorch or builds its model must not take computing time from the one that is being measured. The kernel
/// frees it with the supervisor.
class TurnHold {
  public:
    static Result<TurnHold> take(const std::filesystem::path& comparison_folder);
    TurnHold(TurnHold&& other) noexcept;
    TurnHold& operator=(TurnHold&&) = delete;
    ~TurnHold();  // lets go
    /// The run of this slot waits for its first turn, is paused before it, or has ended.
    [[nodiscard]] bool is_ready(std::size_t slot) const;

  private:
    TurnHold() = default;
    void* m_table = nullptr;
    int m_turn_descriptor = -1;
};

}  // namespace mantissa
