#pragma once
// Probing or fault (design §10): a pure state machine, used by the training loop at every attempt and by judge on recordings.
// A skip is a *fault* if its loss is non-finite, if the scale after backing off is below 1, or if it is the third or later in
// a row after the first applied step; else *probing*. A skip without a loss scaler is always a fault: nothing is probed.
// Decided at the step, never rewritten.
#include <array>
#include <cstdint>
#include <optional>

#include "record/rows.h"

namespace mantissa {

struct StepAttempt {
    bool skipped = false;
    bool nonfinite_loss = false;
    std::optional<double> scale_after;  // loss scale after this attempt's update; empty without a scaler
};

class SkipClassifier {
  public:
    static constexpr std::int64_t persistent_in_row = 8;
    static constexpr std::int64_t persistent_in_window = 10;
    static constexpr std::int64_t window = 50;

    /// To be called once for every attempt, in order.
    SkipKind record(const StepAttempt& attempt);

    /// 8 faults in a row, or 10 in the last 50 attempts.
    [[nodiscard]] bool is_persistent() const;
    /// True once is_persistent was true after any attempt.
    [[nodiscard]] bool was_persistent() const { return m_state.was_persistent; }
    [[nodiscard]] std::int64_t skips_in_row() const { return m_state.skips_in_row; }
    [[nodiscard]] std::int64_t faults_in_row() const { return m_state.faults_in_row; }
    [[nodiscard]] std::int64_t longest_fault_row() const { return m_state.longest_fault_row; }
    [[nodiscard]] std::int64_t faults_in_window() const { return m_state.faults_in_window; }
    [[nodiscard]] std::int64_t attempts() const { return m_state.attempts; }

    /// Everything that the next decision depends on: a run that goes on from a checkpoint takes it up.
    struct State {
        std::array<bool, window> recent{};  // ring: was the attempt a fault
        std::int64_t attempts = 0;
        bool applied_once = false;
        std::int64_t skips_in_row = 0;
        std::int64_t faults_in_row = 0, longest_fault_row = 0;
        std::int64_t faults_in_window = 0;
        bool was_persistent = false;
        bool operator==(const State&) const = default;
    };
    [[nodiscard]] const State& state() const { return m_state; }
    void restore(const State& state) { m_state = state; }

  private:
    void remember(bool fault);

    State m_state;
};

}  // namespace mantissa
