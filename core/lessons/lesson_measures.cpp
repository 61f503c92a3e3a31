#include "lessons/lesson_measures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "judge/op_share.h"
#include "judge/run_figures.h"

namespace mantissa {
namespace {

using Value = std::optional<double>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

const std::vector<StepRow>& steps_of(const MeasureSubject& subject) { return subject.run.rows.steps; }

RunFigures figures_of(const MeasureSubject& subject) { return run_figures(steps_of(subject), subject.run.plan.loss_scale_floor); }

Value optional_step(const std::optional<std::int64_t>& step) { return step ? Value(static_cast<double>(*step)) : Value(); }

/// Mean of the last `argument` losses (1 without it); one that isn't finite makes it NaN.
Value loss_end(const MeasureSubject& subject) {
    const auto& steps = steps_of(subject);
    if (steps.empty()) return {};
    const auto wanted = static_cast<std::size_t>(std::max(1.0, subject.argument.value_or(1)));
    const std::size_t count = std::min(wanted, steps.size());
    double sum = 0;
    for (std::size_t i = steps.size() - count; i < steps.size(); ++i) sum += steps[i].loss;
    return std::isfinite(sum) ? sum / static_cast<double>(count) : not_a_number;
}

/// Mean |difference| of the last `argument` losses of two runs.
Value loss_gap(const MeasureSubject& subject) {
    if (subject.other == nullptr) return {};
    const auto& mine = steps_of(subject);
    const auto& theirs = subject.other->rows.steps;
    const std::size_t length = std::min(mine.size(), theirs.size());
    if (length == 0) return {};
    const std::size_t count = std::min<std::size_t>(length, static_cast<std::size_t>(std::max(1.0, subject.argument.value_or(1))));
    double sum = 0;
    for (std::size_t i = length - count; i < length; ++i) sum += std::fabs(mine[i].loss - theirs[i].loss);
    return std::isfinite(sum) ? sum / static_cast<double>(count) : not_a_number;
}

/// First step at which the losses of two runs lie further apart than `argument`.
std::optional<std::int64_t> step_apart(const std::vector<StepRow>& a, const std::vector<StepRow>& b, double apart) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (!(std::fabs(a[i].loss - b[i].loss) <= apart)) return a[i].step;
    return {};
}

Value parted_step(const MeasureSubject& subject) {
    if (subject.other == nullptr) return {};
    return optional_step(step_apart(steps_of(subject), subject.other->rows.steps, subject.argument.value_or(0)));
}

/// The same of a run and those that began with weights moved by one last bit: the first of them to leave.
Value replica_parted_step(const MeasureSubject& subject) {
    std::optional<std::int64_t> first;
    for (const RunEvidence* replica : subject.replicas) {
        const auto step = step_apart(steps_of(subject), replica->rows.steps, subject.argument.value_or(0));
        if (step && (!first || *step < *first)) first = step;
    }
    return optional_step(first);
}

Value replica_largest_gap(const MeasureSubject& subject) {
    if (subject.replicas.empty()) return {};
    double largest = 0;
    for (const RunEvidence* replica : subject.replicas) {
        const auto& mine = steps_of(subject);
        const auto& theirs = replica->rows.steps;
        for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i)
            largest = std::max(largest, std::fabs(mine[i].loss - theirs[i].loss));
    }
    return largest;
}

Value metric(const MeasureSubject& subject) { return subject.run.summary.metric; }

template <typename Condition>
Value count_steps(const MeasureSubject& subject, Condition condition) {
    const auto& steps = steps_of(subject);
    if (steps.empty()) return {};
    return static_cast<double>(std::count_if(steps.begin(), steps.end(), condition));
}

Value nonfinite_steps(const MeasureSubject& subject) {
    return count_steps(subject, [](const StepRow& row) { return row.nonfinite_loss || !std::isfinite(row.loss); });
}
/// Gradients of 0 in every element: the update does nothing but decay.
Value zero_gradient_steps(const MeasureSubject& subject) {
    return count_steps(subject, [](const StepRow& row) { return row.grad_norm == 0; });
}
Value skipped_steps(const MeasureSubject& subject) {
    return count_steps(subject, [](const StepRow& row) { return row.skipped; });
}
Value attempts(const MeasureSubject& subject) { return static_cast<double>(steps_of(subject).size()); }

Value first_nonfinite(const MeasureSubject& subject) { return optional_step(figures_of(subject).first_bad_step()); }
Value skips_at_start(const MeasureSubject& subject) { return static_cast<double>(figures_of(subject).skips_at_start); }
Value later_skips(const MeasureSubject& subject) { return *skipped_steps(subject) - *skips_at_start(subject); }
Value longest_later_row(const MeasureSubject& subject) { return static_cast<double>(figures_of(subject).longest_later_skip_row); }
Value scale_end(const MeasureSubject& subject) { return figures_of(subject).scale_last; }

template <typename Better>
Value settled_scale(const MeasureSubject& subject, Better better) {
    Value best;
    for (const StepRow& row : steps_of(subject)) {
        if (row.skipped || !row.loss_scale) continue;
        if (!best || better(*row.loss_scale, *best)) best = row.loss_scale;
    }
    return best;
}
Value scale_low(const MeasureSubject& subject) { return settled_scale(subject, std::less<>()); }
Value scale_high(const MeasureSubject& subject) { return settled_scale(subject, std::greater<>()); }

/// A schedule that falls every `argument` applied steps: how many attempts each fall lies away from the place that the skips before it
/// explain. 0 when every skipped step was none for the schedule.
Value unexplained_falls(const MeasureSubject& subject) {
    const double period = subject.argument.value_or(0);
    if (period < 1) return {};
    const auto& steps = steps_of(subject);
    double worst = 0, skips = 0, falls = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i - 1].skipped) ++skips;
        if (steps[i].learning_rate >= steps[i - 1].learning_rate) continue;
        ++falls;
        worst = std::max(worst, std::fabs(static_cast<double>(steps[i].step) - falls * period - skips));
    }
    return falls > 0 ? Value(worst) : Value();
}
/// Attempt of the first fall of the learning rate.
Value first_fall(const MeasureSubject& subject) {
    const auto& steps = steps_of(subject);
    for (std::size_t i = 1; i < steps.size(); ++i)
        if (steps[i].learning_rate < steps[i - 1].learning_rate) return static_cast<double>(steps[i].step);
    return {};
}

/// Share of the multiply-adds of the watched step whose results were half-width.
Value half_share(const MeasureSubject& subject) {
    const auto share = op_share(subject.run.rows.op_dtypes, subject.run.trial);
    if (!share || share->multiply_adds == 0) return {};
    return static_cast<double>(share->multiply_adds_half) / static_cast<double>(share->multiply_adds);
}

Value memory_part(const MeasureSubject& subject, std::initializer_list<const char*> parts) {
    double bytes = 0;
    bool found = false;
    for (const MemoryRow& row : subject.run.rows.memory) {
        if (row.step != subject.run.rows.memory.front().step) break;
        if (std::find(parts.begin(), parts.end(), row.part) == parts.end()) continue;
        bytes += static_cast<double>(row.bytes);
        found = true;
    }
    return found ? Value(bytes) : Value();
}
Value memory_states(const MeasureSubject& subject) { return memory_part(subject, {"weights", "gradients", "optimizer"}); }
Value memory_saved(const MeasureSubject& subject) { return memory_part(subject, {"saved_for_backward", "casts"}); }
/// All but what is the machine's own ("other").
Value memory_total(const MeasureSubject& subject) { return memory_part(subject, {"weights", "gradients", "optimizer", "saved_for_backward", "casts"}); }
Value memory_peak(const MeasureSubject& subject) {
    const auto bytes = static_cast<double>(subject.run.summary.memory_peak_bytes);
    return bytes > 0 ? Value(bytes) : Value();
}

struct Measure {
    const char* name;
    Value (*read)(const MeasureSubject&);
    bool needs_other = false;
};

constexpr Measure measures[] = {
    {"loss_end", loss_end},
    {"loss_start", [](const MeasureSubject& s) -> Value { return s.run.summary.first_loss; }},
    {"loss_gap", loss_gap, true},
    {"parted_step", parted_step, true},
    {"replica_parted_step", replica_parted_step},
    {"replica_largest_gap", replica_largest_gap},
    {"metric", metric},
    {"steps", attempts},
    {"nonfinite_steps", nonfinite_steps},
    {"first_nonfinite_step", first_nonfinite},
    {"zero_gradient_steps", zero_gradient_steps},
    {"skipped_steps", skipped_steps},
    {"skips_at_start", skips_at_start},
    {"later_skips", later_skips},
    {"longest_later_row", longest_later_row},
    {"scale_end", scale_end},
    {"scale_low", scale_low},
    {"scale_high", scale_high},
    {"unexplained_falls", unexplained_falls},
    {"first_fall", first_fall},
    {"half_share", half_share},
    {"memory_states", memory_states},
    {"memory_saved", memory_saved},
    {"memory_total", memory_total},
    {"memory_peak", memory_peak}};

const Measure* find_measure(std::string_view name) {
    for (const Measure& entry : measures)
        if (name == entry.name) return &entry;
    return nullptr;
}

constexpr const char* derived[] = {"ratio", "difference", "largest", "smallest"};

}  // namespace

const std::vector<std::string>& measure_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const Measure& entry : measures) list.emplace_back(entry.name);
        list.insert(list.end(), std::begin(derived), std::end(derived));
        return list;
    }();
    return names;
}

bool needs_other(std::string_view name) {
    const Measure* entry = find_measure(name);
    return entry != nullptr && entry->needs_other;
}

bool is_derived(std::string_view name) { return std::find(std::begin(derived), std::end(derived), name) != std::end(derived); }

std::optional<double> measure(const std::string& name, const MeasureSubject& subject) {
    const Measure* entry = find_measure(name);
    return entry == nullptr ? Value() : entry->read(subject);
}

std::optional<double> derive(const std::string& name, const std::vector<double>& values) {
    if (values.empty()) return {};
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) return not_a_number;
    if (name == "largest") return *std::max_element(values.begin(), values.end());
    if (name == "smallest") return *std::min_element(values.begin(), values.end());
    if (values.size() != 2) return {};
    return name == "ratio" ? values[0] / values[1] : std::fabs(values[0] - values[1]);
}

}  // namespace mantissa
