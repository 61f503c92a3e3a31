// Rules that read tensor records: how near outputs come to the end of the format, and what the loss scale leaves of the gradients. And
// running statistics that a skipped batch spoilt without a bad value.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "judge/format_lens.h"
#include "judge/verdict_rules.h"

namespace mantissa::rules {
namespace {

constexpr double low_headroom_bits = 1.0;
constexpr double flush_limit = 0.1;      // of the gradients
constexpr double loss_gap = 1.05;        // to the control's smoothed loss
constexpr double good_enough = 0.01;     // lost at a scale that is advised
constexpr double evaluation_gap = 10.0;  // to the control's evaluation, with a training loss at most twice its own

struct Headroom {
    std::string tensor;
    double bits = 0, limit = 0;
    std::int64_t since = 0;              // one bit or less from there on
    std::optional<std::int64_t> before;  // where it ends if it goes on rising
};

struct HeadroomAt {
    double step = 0, bits = 0;
};

/// Bits a step; needs four records.
std::optional<double> slope_of(const std::vector<HeadroomAt>& all) {
    constexpr std::ptrdiff_t least = 4, most = 8;
    if (std::ssize(all) < least) return {};
    const auto begin = all.end() - std::min(most, std::ssize(all));
    double step_mean = 0, bits_mean = 0;
    const auto count = static_cast<double>(all.end() - begin);
    for (auto one = begin; one != all.end(); ++one) {
        step_mean += one->step / count;
        bits_mean += one->bits / count;
    }
    double products = 0, squares = 0;
    for (auto one = begin; one != all.end(); ++one) {
        products += (one->step - step_mean) * (one->bits - bits_mean);
        squares += (one->step - step_mean) * (one->step - step_mean);
    }
    constexpr double least_fall = 0.25;  // bits over the records looked at: below that it stands still
    if (squares <= 0) return {};
    const double slope = products / squares;
    return slope * (all.back().step - begin->step) < -least_fall ? std::optional(slope) : std::nullopt;
}

std::optional<Headroom> least_headroom(const std::vector<TensorStatRow>& rows) {
    std::map<std::string, std::pair<double, std::vector<HeadroomAt>>> tensors;  // the format's limit, and its records
    for (const TensorStatRow& row : rows) {
        const NumberFormat format = format_of_dtype(row.dtype);
        if (row.role != TensorRole::Output || format == NumberFormat::Fp32 || !(row.largest > 0)) continue;
        auto& [limit, records] = tensors[row.tensor];
        limit = limits_of(format).largest;
        const bool overflowed = row.pos_inf + row.neg_inf + row.nan > 0;
        records.push_back({static_cast<double>(row.step), overflowed ? -HUGE_VAL : std::log2(limit / row.largest)});
    }
    std::optional<Headroom> least;
    for (const auto& [tensor, entry] : tensors) {
        const auto& [limit, records] = entry;
        const double bits = records.back().bits;
        if (!(bits >= 0 && bits <= low_headroom_bits) || (least && least->bits <= bits)) continue;
        least = Headroom{tensor, bits, limit, 0, {}};
        for (auto one = records.rbegin(); one != records.rend() && one->bits <= low_headroom_bits; ++one)
            least->since = static_cast<std::int64_t>(one->step);
        if (const auto slope = slope_of(records))
            least->before = static_cast<std::int64_t>(std::lround(records.back().step - bits / *slope));
    }
    return least;
}

Finding recorded_headroom(const RunCase& one, const Headroom& headroom) {
    Finding finding("headroom_low", "note", one.mode_name());
    finding.set("where", headroom.tensor).set("bits", readable_number(headroom.bits, 2));
    finding.set("limit", readable_number(headroom.limit, 5)).count("since", headroom.since);
    const char* variant = headroom.before ? "rising" : "steady";
    if (headroom.before) finding.count("before", *headroom.before);
    return std::move(finding.what(variant).next(variant));
}

/// The control's gradients of one step, all parameters together.
class Gradients {
  public:
    explicit Gradients(const std::vector<TensorStatRow>& rows) {
        for (const TensorStatRow& row : rows) {
            if (row.role != TensorRole::Gradient) continue;
            auto input = lens_input(row);
            if (!input) continue;
            m_step = row.step;
            m_inputs.push_back(std::move(*input));
        }
    }
    [[nodiscard]] bool empty() const { return m_inputs.empty(); }
    [[nodiscard]] std::int64_t step() const { return m_step; }
    struct Lost {
        double flush = 0, all = 0;  // shares of what isn't zero in fp32
    };
    [[nodiscard]] Lost in_fp16(double scale) const {
        Lost lost;
        double count = 0;
        for (const LensInput& input : m_inputs) {
            const LensReading reading = read_lens(input, NumberFormat::Fp16, scale);
            const auto values = static_cast<double>(input.histogram.count());
            lost.flush += reading.flush * values;
            lost.all += reading.lost() * values;
            count += values;
        }
        return count > 0 ? Lost{lost.flush / count, lost.all / count} : Lost{};
    }

  private:
    std::vector<LensInput> m_inputs;
    std::int64_t m_step = 0;
};

std::optional<double> scale_at(const RunCase& one, std::int64_t step) {
    for (const StepRow& row : one.run.rows.steps) {
        if (row.step == step) return row.loss_scale;
    }
    return one.figures.scale_last;
}

std::optional<double> last_smoothed(const RunCase& one) {
    const auto losses = smoothed_losses(one.run.rows.steps);
    return losses.empty() ? std::nullopt : std::optional(losses.back().second);
}

/// The loss lags behind the control's by more than 5 %, and by more than its spread where that is known.
bool lags_behind(const Case& all, const RunCase& one) {
    const auto mine = last_smoothed(one), theirs = last_smoothed(*all.control());
    if (!mine || !theirs || !(*mine > loss_gap * *theirs)) return false;
    return !all.spread() || steps_outside(*all.spread(), one.run.rows.steps).is_outside();
}

/// The smallest larger power of two that keeps all but 1 %, else the one that keeps most.
double better_scale(const Gradients& gradients, double scale) {
    double best = scale, least = 1;
    for (int k = static_cast<int>(std::floor(std::log2(scale))) + 1; k <= lens_highest_log2_scale; ++k) {
        const double lost = gradients.in_fp16(std::ldexp(1.0, k)).all;
        if (lost < least) {
            least = lost;
            best = std::ldexp(1.0, k);
        }
        if (lost <= good_enough) return best;
    }
    return best;
}

std::optional<double> evaluated_loss(const RunCase& one) {
    std::optional<double> loss;
    for (const EvaluationRow& row : one.run.rows.evaluations) {
        if (row.split == "validation" && row.metric == "loss" && row.precision == "fp32") loss = row.value;
    }
    return loss;
}

bool has_batch_norm(const RunCase& one) {
    const auto& ops = one.run.rows.op_dtypes;
    return std::any_of(ops.begin(), ops.end(),
                       [](const OpDtypeRow& row) { return row.op.find("batch_norm") != std::string::npos; });
}

}  // namespace

std::vector<Finding> headroom_low(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        if (!one.is_half() || one.figures.first_bad_step()) continue;
        if (const auto recorded = least_headroom(one.run.rows.tensor_stats)) {
            findings.push_back(recorded_headroom(one, *recorded));
            continue;
        }
        const auto& trial = one.run.trial;
        if (!trial || !trial->headroom_bits) continue;
        const double bits = *trial->headroom_bits;
        if (!(bits >= 0) || bits > low_headroom_bits || trial->headroom_module.empty()) continue;
        Finding finding("headroom_low", "note", one.mode_name());
        finding.set("where", trial->headroom_module).set("bits", readable_number(bits, 2));
        finding.set("limit", readable_number(largest_finite(one.mode()), 5)).what("trial").next("trial");
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> gradient_underflow(const Case& all) {
    const RunCase *one = all.run(Precision::Fp16), *control = all.control();
    if (one == nullptr || control == nullptr || one->figures.applied == 0) return {};
    if (one->figures.in_trouble() || control->figures.in_trouble() || !lags_behind(all, *one)) return {};
    const Gradients gradients(control->run.rows.tensor_stats);
    const auto scale = gradients.empty() ? std::nullopt : scale_at(*one, gradients.step());
    if (!scale || !(*scale > 0)) return {};
    const double share = gradients.in_fp16(*scale).flush;
    if (share < flush_limit) return {};
    const double better = better_scale(gradients, *scale), left = gradients.in_fp16(better).all;
    Finding finding("gradient_underflow", "warning", one->mode_name());
    finding.set("scale", readable_scale(*scale)).set("share", readable_percent(share)).count("step", gradients.step());
    finding.number("loss", last_smoothed(*one)).number("control_loss", last_smoothed(*control));
    finding.set("better", readable_scale(better)).set("better_share", readable_percent(left));
    finding.next(left < share / 2 ? "raise" : "bf16");
    return {finding};
}

std::vector<Finding> batchnorm_poisoned(const Case& all) {
    std::vector<Finding> findings;
    const RunCase* control = all.control();
    if (control == nullptr || control->figures.in_trouble()) return findings;
    for (const RunCase& one : all.runs()) {
        const std::int64_t skipped = one.figures.probing + one.figures.faults;
        if (!one.is_half() || skipped == 0 || one.run.plan.batch_norm_on_skip == "restore" || !has_batch_norm(one)) continue;
        if (one.first_incident("batchnorm_poisoned") != nullptr || one.figures.first_bad_step()) continue;
        const auto mine = last_smoothed(one), theirs = last_smoothed(*control);
        const auto evaluated = evaluated_loss(one), control_evaluated = evaluated_loss(*control);
        if (!mine || !theirs || !evaluated || !control_evaluated || *mine > 2 * *theirs) continue;
        if (std::isfinite(*evaluated) && *evaluated <= evaluation_gap * *control_evaluated) continue;
        Finding finding("batchnorm_poisoned", "error", one.mode_name());
        finding.what("evaluation").next("evaluation").count("skipped", skipped);
        finding.number("loss", mine).number("control_loss", theirs);
        finding.number("evaluated", evaluated).number("control_evaluated", control_evaluated);
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace mantissa::rules
