#include "engine/loss_scale_schedule.h"

#include <cmath>
#include <string>

#include "base/numbers.h"
#include "engine/engine_error.h"

namespace mantissa {
namespace {

constexpr double alarm_distance = 16;              // 2^4 above the floor
constexpr double lowest_with_reciprocal = 0x1p-127;  // from 2^-128 down, 1/scale is infinite in fp32

void require(bool holds, const char* field, double value, const char* allowed) {
    if (!holds) {
        throw EngineError({ErrorCode::BadPlan, std::string(field) + " is " + to_text(value), allowed});
    }
}

}  // namespace

LossScaleSchedule::LossScaleSchedule(const LossScalePlan& plan)
    : m_plan(plan), m_scale(static_cast<float>(plan.initial)) {
    require(std::isfinite(m_scale) && m_scale > 0, "loss_scale.initial", plan.initial,
            "use a positive number that fp32 can hold");
    require(std::isfinite(plan.growth_factor) && plan.growth_factor >= 1, "loss_scale.growth_factor",
            plan.growth_factor, "use a number from 1 up (1 keeps the scale from growing)");
    require(plan.backoff_factor > 0 && plan.backoff_factor <= 1, "loss_scale.backoff_factor",
            plan.backoff_factor, "use a number above 0, up to 1 (1 keeps the scale from falling)");
    require(plan.growth_interval >= 1, "loss_scale.growth_interval",
            static_cast<double>(plan.growth_interval), "use a whole number from 1 up");
    require(std::isfinite(plan.floor) && plan.floor >= 0, "loss_scale.floor", plan.floor,
            "use 0 (no floor) or a positive number");
    require(plan.floor <= m_scale, "loss_scale.floor", plan.floor, "use a number up to loss_scale.initial");
}

float LossScaleSchedule::backed_off() const {
    return static_cast<float>(static_cast<double>(m_scale) * m_plan.backoff_factor);
}

bool LossScaleSchedule::would_collapse_on_overflow() const {
    return backed_off() < static_cast<float>(m_plan.floor);
}

bool LossScaleSchedule::is_low(float scale) const {
    return scale < 1 || static_cast<double>(scale) <= alarm_distance * m_plan.floor;
}

std::int64_t LossScaleSchedule::backoffs_left() const {
    if (m_plan.backoff_factor == 1) {
        return 0;
    }
    const double lowest = m_plan.floor > 0 ? m_plan.floor : lowest_with_reciprocal;
    // The powers of two of everyday factors come out whole; the small term is for the others' rounding.
    const double steps = std::log2(m_scale / lowest) / -std::log2(m_plan.backoff_factor);
    return steps < 0 ? 0 : static_cast<std::int64_t>(std::floor(steps + 1e-9));
}

void LossScaleSchedule::record(GradientFinding finding) {
    const float before = m_scale;
    m_is_alarming = false;
    if (finding == GradientFinding::Overflow) {
        m_is_collapsed = would_collapse_on_overflow();
        m_scale = m_is_collapsed ? static_cast<float>(m_plan.floor) : backed_off();
        // A scale that begins low is told of at its first fall.
        const bool was_high = !is_low(before) || before == static_cast<float>(m_plan.initial);
        m_is_alarming = m_scale < before && is_low(m_scale) && was_high;
        m_growth_tracker = 0;
        return;
    }
    m_is_collapsed = false;
    if (++m_growth_tracker < m_plan.growth_interval) {
        return;
    }
    // A tiny loss never overflows, so only the range of fp32 ends the growth: stay below it.
    const float grown = static_cast<float>(static_cast<double>(m_scale) * m_plan.growth_factor);
    if (std::isfinite(grown)) {
        m_scale = grown;
    }
    m_growth_tracker = 0;
}

void LossScaleSchedule::restore(const State& state) {
    require(std::isfinite(state.scale) && state.scale > 0, "loss scale of the saved state", state.scale,
            "the state is damaged");
    require(state.growth_tracker >= 0, "growth tracker of the saved state",
            static_cast<double>(state.growth_tracker), "the state is damaged");
    m_scale = static_cast<float>(state.scale);
    m_growth_tracker = state.growth_tracker;
    m_is_collapsed = m_is_alarming = false;
}

}  // namespace mantissa
