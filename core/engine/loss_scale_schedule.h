#pragma once
// The loss scale as a pure state machine (no tensors): when it grows, when it backs off, where it stops. Arithmetic is
// fp32 with factors in fp64, as at::_amp_update_scale_ does it, so that the values are those of torch.amp.GradScaler.
// Two differences: it is told once per iteration, however many optimizers there are, and it has a floor.
#include <cstdint>

#include "plan/run_plan.h"

namespace mantissa {

enum class GradientFinding { Finite, Overflow };

class LossScaleSchedule {
  public:
    struct State {
        double scale = 65536.0;
        std::int64_t growth_tracker = 0;
        bool operator==(const State&) const = default;
    };

    /// Throws EngineError that names the field and its value. A floor of 0 is no floor (what Accelerate does). Growth and
    /// back-off of 1 are a fixed scale.
    explicit LossScaleSchedule(const LossScalePlan& plan);

    void record(GradientFinding finding);

    [[nodiscard]] double scale() const { return m_scale; }
    [[nodiscard]] std::int64_t growth_tracker() const { return m_growth_tracker; }
    /// True once an overflow wanted to go below the floor; false again after a finite step.
    [[nodiscard]] bool is_collapsed() const { return m_is_collapsed; }
    [[nodiscard]] bool would_collapse_on_overflow() const;
    /// The last overflow took the scale below 1, or to within 2^4 of the floor, where it had not been: once in a descent.
    [[nodiscard]] bool is_alarming() const { return m_is_alarming; }
    /// Overflows that can still be answered by a lower scale. Without a floor: until its reciprocal leaves fp32.
    [[nodiscard]] std::int64_t backoffs_left() const;

    [[nodiscard]] State state() const { return {m_scale, m_growth_tracker}; }
    void restore(const State& state);

  private:
    [[nodiscard]] float backed_off() const;
    [[nodiscard]] bool is_low(float scale) const;

    LossScalePlan m_plan;
    float m_scale;
    std::int64_t m_growth_tracker = 0;
    bool m_is_collapsed = false;
    bool m_is_alarming = false;
};

}  // namespace mantissa
