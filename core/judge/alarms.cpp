#include "judge/alarms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr std::size_t steps_kept = 16;
// An exact zero in backward is what a bias before a norm should have: what rounding leaves of it is no gradient that vanishes.
constexpr const char* of_bias = "bias";

bool is_half(NumberFormat format) {
    return format != NumberFormat::Fp32;
}

double headroom_bits(const TensorStatRow& row) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (row.pos_inf + row.neg_inf > 0) return -infinity;
    return row.largest > 0 ? std::log2(limits_of(format_of_dtype(row.dtype)).largest / row.largest) : infinity;
}

double share_of(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string value_text(AlarmKind kind, double value) {
    switch (kind) {
        case AlarmKind::Headroom: return readable_number(value, 2);
        case AlarmKind::ScaleFloor:
        case AlarmKind::SkipStreak: return readable_count(static_cast<std::int64_t>(value));
        case AlarmKind::FlushShare:
        case AlarmKind::DeadLayer:
        case AlarmKind::UpdateShare: return readable_percent(value);
        case AlarmKind::VanishingGradient: return readable_number(value, 2);
    }
    return {};
}

std::string key_of(AlarmKind kind, const char* part) {
    return std::string("alarms.") + to_string(kind) + "." + part;
}

}  // namespace

std::optional<double> survivors_flush_share(const LensInput& gradients, double loss_scale) {
    const double smallest_kept = limits_of(NumberFormat::Fp16).min_subnormal;
    double all = 0, last_octave = 0;
    for (const HistogramBin& bin : gradients.histogram.bins) {
        const auto count = static_cast<double>(bin.on_edge + bin.inside);
        const double scaled = bin_edge(bin.index) * loss_scale;
        // Sums of micro-batches and a scale's last bit leave a little room.
        if (scaled < smallest_kept * 0.93) return std::nullopt;
        all += count;
        if (scaled < smallest_kept * 1.9) last_octave += count;
    }
    return all > 0 ? last_octave / 2 / (all + last_octave / 2) : 0;
}

void AlarmJudge::judge(const AlarmRule& rule, std::int64_t step, const std::string& tensor, double value, bool is_true,
                       std::vector<AlarmRow>& rows) {
    Memory& memory = m_memory[{rule.kind, tensor}];
    if (!is_true) {
        memory = {};
        return;
    }
    if (++memory.in_row < rule.steps || memory.fired) return;
    memory.fired = true;
    rows.push_back({step, to_string(rule.kind), to_string(rule.level), tensor, value, rule.threshold, to_string(rule.action)});
}

std::vector<AlarmRow> AlarmJudge::look_at_step(const AlarmStep& step) {
    m_steps[step.step] = step;
    if (m_steps.size() > steps_kept) m_steps.erase(m_steps.begin());
    m_has_applied = m_has_applied || !step.skipped;
    m_skips_in_row = step.skipped && m_has_applied ? m_skips_in_row + 1 : 0;
    std::vector<AlarmRow> rows;
    for (const AlarmRule& rule : m_rules) {
        if (rule.kind == AlarmKind::SkipStreak) {
            const auto streak = static_cast<double>(m_skips_in_row);
            judge(rule, step.step, "", streak, streak >= rule.threshold, rows);
        }
        if (rule.kind == AlarmKind::ScaleFloor && step.loss_scale_after && m_run.scale_floor > 0) {
            const double left = std::log2(*step.loss_scale_after / m_run.scale_floor);
            judge(rule, step.step, "", left, left <= rule.threshold && *step.loss_scale_after < m_run.scale_initial, rows);
        }
    }
    return rows;
}

AlarmStep AlarmJudge::step_of(std::int64_t step) const {
    const auto found = m_steps.find(step);
    return found == m_steps.end() ? AlarmStep{step, false, std::nullopt, std::nullopt} : found->second;
}

std::vector<AlarmRow> AlarmJudge::look_at_tensors(const std::vector<TensorStatRow>& rows) {
    std::vector<AlarmRow> fired;
    double largest_rms = 0;
    for (const TensorStatRow& row : rows) {
        if (row.role == TensorRole::Gradient && std::isfinite(row.rms)) largest_rms = std::max(largest_rms, row.rms);
    }
    for (const TensorStatRow& row : rows) {
        const AlarmStep step = step_of(row.step);
        for (const AlarmRule& rule : m_rules) judge_tensor(rule, row, step, largest_rms, fired);
    }
    return fired;
}

void AlarmJudge::judge_tensor(const AlarmRule& rule, const TensorStatRow& row, const AlarmStep& step, double largest_rms,
                              std::vector<AlarmRow>& rows) {
    const bool is_gradient = row.role == TensorRole::Gradient, is_output = row.role == TensorRole::Output;
    const bool is_all_zero = row.elements > 0 && row.zero == row.elements;
    switch (rule.kind) {
        case AlarmKind::SkipStreak:
        case AlarmKind::ScaleFloor: return;
        case AlarmKind::Headroom: {
            if (!is_output || !is_half(format_of_dtype(row.dtype))) return;
            const double bits = headroom_bits(row);
            return judge(rule, row.step, row.tensor, bits, bits < rule.threshold, rows);
        }
        case AlarmKind::FlushShare: {
            if (!is_gradient || m_run.mode != Precision::Fp16 || step.skipped || !step.loss_scale) return;
            const auto input = lens_input(row);
            const auto share = input ? survivors_flush_share(*input, *step.loss_scale) : std::nullopt;
            if (share) judge(rule, row.step, row.tensor, *share, *share >= rule.threshold, rows);
            return;
        }
        case AlarmKind::VanishingGradient: {
            if (!is_gradient || step.skipped || is_all_zero || largest_rms <= 0 || row.tensor.ends_with(of_bias)) return;
            const double ratio = row.rms / largest_rms;
            return judge(rule, row.step, row.tensor, ratio, ratio < rule.threshold, rows);
        }
        case AlarmKind::DeadLayer: {
            // A step without any gradient says nothing about one layer.
            if (!(is_output || (is_gradient && largest_rms > 0 && !row.tensor.ends_with(of_bias))) || step.skipped) return;
            const double zeros = share_of(row.zero, row.elements);
            return judge(rule, row.step, row.tensor, zeros, row.elements > 0 && zeros >= rule.threshold, rows);
        }
        case AlarmKind::UpdateShare: {
            if (row.role != TensorRole::Update || step.skipped || !row.unmoved) return;
            return judge(rule, row.step, row.tensor, *row.unmoved, *row.unmoved >= rule.threshold, rows);
        }
    }
}

Result<std::string> alarm_name(AlarmKind kind, const TextCatalogue& texts) {
    return texts.fill(key_of(kind, "name"));
}

Result<std::string> alarm_meaning(AlarmKind kind, const TextCatalogue& texts) {
    return texts.fill(key_of(kind, "means"));
}

Result<std::string> alarm_text(const AlarmRow& row, const TextCatalogue& texts) {
    const auto kind = parse_alarm_kind(row.rule);
    if (!kind) return Error{ErrorCode::BadPlan, "this version knows no alarm " + row.rule, {}};
    const bool is_over = *kind == AlarmKind::Headroom && std::isinf(row.value);
    const TextValues values{{"step", std::to_string(row.step)},
                            {"tensor", row.tensor},
                            {"value", value_text(*kind, row.value)},
                            {"threshold", value_text(*kind, row.threshold)}};
    const auto what = texts.fill(key_of(*kind, is_over ? "over" : "what"), values);
    if (!what) return what.error();
    const auto advice = texts.fill(key_of(*kind, "try"), values);
    if (!advice) return advice.error();
    const auto done = texts.fill("alarms.action." + row.action);
    const std::string between = texts.language() == "zh" ? "" : " ";
    return *what + between + *advice + (done && !done->empty() ? between + *done : "");
}

}  // namespace mantissa
