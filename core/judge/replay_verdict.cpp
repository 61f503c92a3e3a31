#include "judge/replay_verdict.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "judge/evidence.h"
#include "judge/op_share.h"
#include "judge/replay_grid.h"
#include "judge/replay_words.h"

namespace mantissa {
namespace {

struct Look {  // all that a rule sees
    const ReplayReport& report;
    const ReplayFacts& facts;
    ReplayGrid grid;

    [[nodiscard]] const BirthReport* birth() const { return report.birth ? &*report.birth : nullptr; }
    [[nodiscard]] std::string code() const { return birth() ? birth()->code : std::string(); }
    [[nodiscard]] std::string phase() const { return birth() ? birth()->producer.phase : std::string(); }
    [[nodiscard]] std::string place() const { return birth() ? birth()->place() : std::string(); }
    [[nodiscard]] bool control_grown() const { return facts.control && facts.control->grown(); }
};

ReplayFinding finding_of(const Look& look, const char* code, const char* severity, const std::string& best = {}) {
    ReplayFinding found{Finding(code, severity, to_string(look.report.mode)), code, "high", best};
    found.finding.set("told_by", "replay").count("step", look.report.step);
    if (!look.place().empty()) found.finding.set("where", look.birth()->told_place());
    if (const std::string modes = look.grid.finite_modes(); !modes.empty()) found.finding.set("finite_in", modes);
    if (const VariantReport* one = look.grid.done(best)) found.finding.count("held", one->later_steps);
    if (const VariantReport* one = look.grid.done("bf16")) found.finding.count("bf16_held", one->later_steps);
    if (const VariantReport* one = look.grid.done("island")) found.finding.set("island", one->island);
    return found;
}

ReplayFinding cause_open(const Look& look, const std::string& variant) {
    ReplayFinding found = finding_of(look, "cause_open", "warning");
    found.finding.what(variant).next(variant);
    found.cause.clear();
    found.confidence = "low";
    return found;
}

/// The second sentence of a fault of the format: what was seen to hold.
void advise_held(const Look& look, ReplayFinding& found) {
    const bool island = found.best == "island", bf16 = look.report.mode != Precision::Bf16 && look.grid.holds("bf16");
    found.finding.next(island && bf16 ? "island_bf16" : found.best.empty() ? "none" : found.best);
    if (found.best.empty()) found.confidence = "medium";
}

std::string precision_cure(const Look& look) { return look.grid.first_that_holds({"island", "bf16", "no"}); }

// Values that grow without end meet the limit of every format, of the narrowest first.
std::optional<ReplayFinding> learning_rate(const Look& look) {
    const VariantReport* half = look.grid.done("half_rate");
    const VariantReport* control = look.grid.done("no");
    const bool later = look.report.mode != Precision::No && control != nullptr && control->later_bad_at;
    const bool out_of_fp32 = look.grid.control_bad() && look.code() == "activation_overflow";
    if (half == nullptr || !half->holds() || !(look.control_grown() || later || out_of_fp32)) return {};
    ReplayFinding found = finding_of(look, "learning_rate", "error", "half_rate");
    found.finding.count("from", half->from_step);
    if (look.control_grown()) {
        const ControlHealth& health = *look.facts.control;
        const bool by_loss = health.loss_growth.value_or(0) >= ControlHealth::loss_limit;
        found.finding.number("growth", by_loss ? health.loss_growth : health.norm_growth);
        const bool is_control = look.report.mode == Precision::No;
        found.finding.what(std::string(by_loss ? "loss" : "norm") + (is_control ? "_self" : ""));
    } else if (later) {
        found.finding.what("later").count("later", *control->later_bad_at);
    } else {
        found.finding.what("out_of_fp32");
        found.confidence = "medium";
    }
    const auto rate = look.facts.learning_rate;
    found.finding.next(rate ? "rate" : "plain");
    if (rate) found.finding.set("lr", to_text(*rate)).set("half_lr", to_text(*rate / 2));
    return found;
}

/// Bad before the step computed anything: the batch, a weight or a buffer.
std::optional<ReplayFinding> bad_leaf(const Look& look) {
    if (look.phase() == "parameter") return finding_of(look, "weights_poisoned", "error");
    if (look.phase() != "buffer") return {};
    const std::string& name = look.birth()->tensor;
    if (name.find("running_") == std::string::npos) return {};
    return finding_of(look, "batchnorm_poisoned", "error");
}

std::optional<ReplayFinding> adam_eps(const Look& look) {
    if (look.phase() != "update" || look.code() != "adam_eps") return {};
    ReplayFinding found = finding_of(look, "adam_eps", "error");
    found.finding.count("step", look.birth()->step.value_or(look.report.step));
    found.finding.what(look.grid.control_bad() ? "all" : "half");
    if (!look.grid.control_bad() && !look.grid.control_finite()) found.confidence = "medium";
    return found;
}

bool is_formula_fault(const std::string& code) {
    return code == "log_of_zero" || code == "zero_over_zero" || code == "inf_minus_inf" || code == "root_at_zero" ||
           code == "masked_row";
}

/// `no` fails too: data, formula or model.
ReplayFinding not_precision(const Look& look) {
    ReplayFinding found = finding_of(look, "not_precision", "error");
    const bool is_no = look.report.mode == Precision::No, there = look.grid.control_bad_there();
    found.cause.clear();
    const bool named = is_formula_fault(look.code()) || look.code() == "bad_input" || look.code() == "activation_overflow";
    if (look.place().empty()) {
        found.finding.what("plain").next("plain");
    } else if (there && named) {
        found.cause = look.code();
        found.finding.what(is_no ? "self" : "there");
        found.finding.next(replay_words::variant_of_cause(*look.birth(), found.finding));
    } else if (there) {
        found.finding.what(is_no ? "self" : "there").next("where");
    } else {
        const std::string other = look.grid.done("no")->place;
        found.finding.what(other.empty() ? "plain" : "elsewhere").next("where");
        if (!other.empty()) found.finding.set("other", other);
    }
    if (found.cause.empty()) found.confidence = "medium";
    return found;
}

/// Finite at loss scale 1: only the scaled gradients left the format.
std::optional<ReplayFinding> scaled_gradient(const Look& look) {
    const bool of_gradients = look.birth() == nullptr || look.phase() == "backward" || look.phase() == "unscale";
    if (look.report.mode != Precision::Fp16 || !of_gradients || !look.grid.finite("scale_1")) return {};
    const VariantReport* as_was = look.grid.done("as_was");
    if (as_was == nullptr || *as_was->this_step_finite) return {};
    const bool search_went_on = as_was->later_steps > 0 && !as_was->later_bad_at;
    ReplayFinding found = search_went_on ? finding_of(look, "scale_probing", "ok")
                                         : finding_of(look, "persistent_overflow", "error",
                                                      look.grid.first_that_holds({"scale_1", "bf16", "no"}));
    const auto& scale = look.facts.loss_scale;
    if (scale) found.finding.set("scale", readable_scale(*scale));
    found.finding.what(std::string(look.place().empty() ? "plain" : "where") + (scale ? "_scale" : ""));
    if (search_went_on) {
        found.finding.count("later", as_was->later_steps);
    } else {
        found.finding.next(found.best.empty() ? "none" : found.best);
        if (found.best.empty()) found.confidence = "medium";
    }
    return found;
}

/// Finite operands, and a result beyond the end of the format.
bool left_the_format(const BirthReport& birth) {
    const auto& operands = birth.producer.operands;
    const TensorReading& result = birth.producer.result;
    const bool operands_finite =
        std::all_of(operands.begin(), operands.end(), [](const TensorReading& one) { return one.is_finite(); });
    const bool is_fp8 = result.dtype.starts_with("float8");  // e4m3fn has no Inf
    return !operands.empty() && operands_finite && (result.pos_inf + result.neg_inf > 0 || (is_fp8 && result.nan > 0));
}

/// The finder tells an overflow of the loss, and one of a scaled gradient, by codes of their own.
bool is_overflow(const std::string& code) {
    return code == "activation_overflow" || code == "loss_in_half" || code == "scale_probing";
}

/// The scale was tried and didn't matter, or there is none.
bool bad_at_any_scale(const Look& look) { return look.report.mode != Precision::Fp16 || look.grid.bad("scale_1"); }

std::optional<ReplayFinding> overflow(const Look& look) {
    const BirthReport* birth = look.birth();
    if (birth == nullptr || !is_overflow(birth->code) || look.place().empty()) return {};
    if (!left_the_format(*birth) || !is_half_dtype(birth->producer.result.dtype) || !bad_at_any_scale(look)) return {};
    const bool is_loss = birth->producer.phase == "loss";
    ReplayFinding found =
        finding_of(look, is_loss ? "loss_in_half" : "activation_overflow", "error", precision_cure(look));
    const double limit = look.report.limit > 0 ? look.report.limit : largest_finite(look.report.mode);
    found.finding.set("operands", replay_words::operands(birth->producer)).set("result", replay_words::bad_value(birth->producer.result));
    found.finding.set("limit", readable_number(limit, 5)).set("dtype", birth->producer.result.dtype);
    if (!is_loss) {
        found.finding.what(std::string(birth->producer.phase == "backward" ? "backward" : "forward") +
                           (look.grid.bad("scale_1") ? "_scale" : ""));
    }
    advise_held(look, found);
    return found;
}

/// A formula that gives out only because half precision rounds or cuts what goes in.
std::optional<ReplayFinding> formula_in_half(const Look& look) {
    if (!is_formula_fault(look.code()) || look.place().empty() || !bad_at_any_scale(look)) return {};
    ReplayFinding found =
        finding_of(look, look.code().c_str(), "error", precision_cure(look));
    advise_held(look, found);
    return found;
}

ReplayFinding unknown(const Look& look) {
    // Beside a control that grows, a change of precision that holds proves nothing.
    ReplayFinding found = finding_of(
        look, "unknown", "error",
        look.control_grown() ? std::string() : look.grid.first_that_holds({"island", "bf16", "scale_1", "no"}));
    found.cause.clear();
    found.confidence = "low";
    if (look.place().empty()) {
        found.finding.what("no_place");
    } else {
        found.finding.what("place").set("result", replay_words::bad_value(look.birth()->producer.result));
    }
    const bool of_the_batch = look.grid.bad("as_was") && look.grid.finite("previous_batch");
    found.finding.next(!found.best.empty() ? found.best : of_the_batch ? "batch" : look.control_grown() ? "rate" : "seed");
    return found;
}

ReplayFinding find_cause(const Look& look) {
    if (!look.grid.is_bad_as_was()) return cause_open(look, "finite");
    if (auto found = bad_leaf(look)) return *found;
    if (auto found = adam_eps(look)) return *found;
    const bool bad_batch = look.phase() == "data";  // no rate and no precision can mend what was read from a file
    if (!bad_batch) {
        if (auto found = learning_rate(look)) return *found;
    }
    if (look.grid.control_bad()) return not_precision(look);
    if (!look.grid.control_finite()) return cause_open(look, "no_control");
    if (look.control_grown()) return unknown(look);  // half the rate was no cure, and the control isn't healthy: nothing is proven
    for (const auto rule : {scaled_gradient, overflow, formula_in_half}) {
        if (auto found = rule(look)) return *found;
    }
    if (look.report.mode == Precision::Fp16 && look.grid.done("scale_1") == nullptr) return cause_open(look, "no_scale");
    return unknown(look);
}

}  // namespace

std::optional<ReplayFinding> judge_replay(const ReplayReport& report, const ReplayFacts& facts) {
    if (report.is_what_if) return {};
    const Look look{report, facts, ReplayGrid(report)};
    ReplayFinding found = finding_of(look, "cause_open", "warning");
    if (report.state == "failed") {
        found = cause_open(look, "failed");
        found.finding.set("problem", report.problem);
    } else if (report.reproduced.value_or(Reproduced::No) == Reproduced::No) {
        found = cause_open(look, report.reproduced_reason.empty() ? "other" : "other_reason");
        if (!report.reproduced_reason.empty()) found.finding.set("reason", report.reproduced_reason);
    } else {
        found = find_cause(look);
        const bool only_pattern = *report.reproduced == Reproduced::Pattern;
        // The recorded control broke there too, whatever `no` does from the half run's weights.
        const bool odd_control = report.control_finite == false && look.grid.control_finite();
        if ((only_pattern || odd_control) && found.confidence == "high") found.confidence = "medium";
    }
    found.finding.set("confidence", found.confidence);
    if (!found.cause.empty()) found.finding.set("cause", found.cause);
    return found;
}

Result<void> give_verdict(ReplayReport& report, const ReplayFacts& facts, std::string_view language) {
    const auto texts = text_catalogue(language);
    if (!texts) return texts.error();
    report.best.clear();
    report.verdict.reset();
    const auto found = judge_replay(report, facts);
    if (!found) return {};
    const Finding& finding = found->finding;
    Verdict verdict{finding.code, finding.severity, finding.mode, finding.values, replay_words::evidence(report, *found, **texts), {}};
    const auto text = verdict_text(verdict, **texts);
    if (!text) return {};  // a verdict without its numbers isn't shown
    verdict.text = *text;
    report.best = found->best;
    report.verdict = std::move(verdict);
    return {};
}

ReplayFacts load_replay_facts(const ReplayReport& report) {
    ReplayFacts facts;
    const bool is_control = report.mode == Precision::No;
    if (const auto own = load_run_evidence(report.run_dir)) {
        facts.learning_rate = own->plan.learning_rate;
        for (const StepRow& row : own->rows.steps) {
            if (row.step == report.step) facts.loss_scale = row.loss_scale;
        }
        if (is_control) facts.control = control_health(own->rows.steps, report.step);
    }
    if (is_control || report.control_run.empty()) return facts;
    if (const auto control = load_run_evidence(report.control_run); control && !control->rows.steps.empty())
        facts.control = control_health(control->rows.steps, report.step);
    return facts;
}

}  // namespace mantissa
