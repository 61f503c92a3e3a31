// Verdicts of replays: what a variant of the grid must have shown for a cause to be named.
#include "verdict_limits.h"

namespace mantissa::test {
namespace {

using Report = ReplayReport;
using Facts = ReplayFacts;

void is_finite(Report& report, const std::string& id, bool finite) { variant(report, id) = finite ? finite_variant(id) : bad_variant(id); }

/// The variant `id` bad or finite.
auto finite(const char* id) {
    return [id](Report& report, Facts&, bool is) { is_finite(report, id, is); };
}

void add_open(LimitTable& table) {
    table.add_replay("cause_open", "not reproduced", gated_replay(),
                     [](Report& report, Facts&, Reproduced how) { report.reproduced = how; }, Reproduced::Pattern, Reproduced::No, "other");
    table.add_replay("cause_open", "a replay that failed", gated_replay(),
                     [](Report& report, Facts&, const char* state) {
                         report.state = state;
                         report.problem = "there is no kept state";
                     },
                     "done", "failed", "failed");
    table.add_replay("cause_open", "finite as it was", gated_replay(), finite("as_was"), false, true, "finite");
    table.add_replay("cause_open", "without `no`", gated_replay(),
                     [](Report& report, Facts&, const char* state) { variant(report, "no").state = state; }, "done", "failed",
                     "no_control");
    table.add_replay("unknown", "a birth that fits nothing", gated_replay(),
                     [](Report& report, Facts&, const char* code) { report.birth->code = code; }, "activation_overflow", "unknown");
    table.add_replay("unknown", "a control that isn't healthy where half the rate is no cure", gated_replay(),
                     [](Report& report, Facts& facts, double growth) {
                         facts.control->loss_growth = growth;
                         is_finite(report, "half_rate", false);
                     },
                     999.0, 1000.0, "rate");
}

void add_leaves(LimitTable& table) {
    Report bad = gated_replay();
    for (VariantReport& one : bad.variants) one = bad_variant(one.id, "NaN");
    bad.birth->tensor = "norm.running_var";
    const auto in_phase = [](Report& report, Facts&, const char* phase) { report.birth->producer.phase = phase; };
    table.add_replay("weights_poisoned", "a parameter that was bad at the start", bad, in_phase, "buffer", "parameter");
    table.add_replay("batchnorm_poisoned", "a buffer of running statistics", bad,
                     [](Report& report, Facts&, const char* tensor) {
                         report.birth->producer.phase = "buffer";
                         report.birth->tensor = tensor;
                     },
                     "mask", "norm.running_var");
    Report update = gated_replay();
    update.birth->code = "adam_eps";
    table.add_replay("adam_eps", "in the update", update, in_phase, "forward", "update");
    table.add_replay("adam_eps", "`no` bad as well", update,
                     [](Report& report, Facts&, bool control_bad) {
                         report.birth->producer.phase = "update";
                         is_finite(report, "no", !control_bad);
                     },
                     false, true, "all");
}

void add_rate(LimitTable& table) {
    const auto grown = [](Report&, Facts& facts, double growth) { facts.control->loss_growth = growth; };
    table.add_replay("learning_rate", "the control's loss at 1,000 times its start", gated_replay(), grown, 999.0, 1000.0, "loss");
    table.add_replay("learning_rate", "its norm at 10 times that of the 20 steps before", gated_replay(),
                     [](Report&, Facts& facts, double growth) { facts.control->norm_growth = growth; }, 10.0, 10.1, "norm");
    table.add_replay("learning_rate", "half the rate holds", gated_replay(),
                     [](Report& report, Facts& facts, bool holds) {
                         facts.control->loss_growth = 1e6;
                         is_finite(report, "half_rate", holds);
                     },
                     false, true);
    table.add_replay("learning_rate", "`no` bad a little later", gated_replay(),
                     [](Report& report, Facts&, std::optional<std::int64_t> later) { variant(report, "no").later_bad_at = later; },
                     std::optional<std::int64_t>(), std::optional<std::int64_t>(9), "later");
    table.add_replay("learning_rate", "out of fp32 too, and half the rate holds", gated_replay(), finite("no"), true, false, "out_of_fp32");
}

void add_precision(LimitTable& table) {
    const auto scaled = [](bool search_went_on) {
        Report report = gated_replay();
        report.birth->producer.phase = "backward";
        is_finite(report, "scale_1", true);
        variant(report, "as_was").later_steps = 20;
        if (!search_went_on) variant(report, "as_was").later_bad_at = 1;
        return report;
    };
    table.add_replay("scale_probing", "finite at loss scale 1", scaled(true), finite("scale_1"), false, true);
    table.add_replay("scale_probing", "steps after it that stay finite", scaled(true),
                     [](Report& report, Facts&, std::int64_t steps) { variant(report, "as_was").later_steps = steps; }, std::int64_t{0},
                     std::int64_t{1});
    table.add_replay("persistent_overflow", "finite at loss scale 1", scaled(false), finite("scale_1"), false, true, "scale_1");
    table.add_replay("persistent_overflow", "bad again later", scaled(true),
                     [](Report& report, Facts&, std::optional<std::int64_t> later) { variant(report, "as_was").later_bad_at = later; },
                     std::optional<std::int64_t>(), std::optional<std::int64_t>(1));
    table.add_replay("activation_overflow", "bad at loss scale 1", gated_replay(), finite("scale_1"), true, false, "forward_scale");
    table.add_replay("activation_overflow", "finite in `no`", gated_replay(),
                     [](Report& report, Facts&, bool finite_in_no) {
                         is_finite(report, "half_rate", false);
                         is_finite(report, "no", finite_in_no);
                     },
                     false, true);
    table.add_replay("activation_overflow", "finite operands", gated_replay(),
                     [](Report& report, Facts&, std::int64_t infinities) { report.birth->producer.operands[0].pos_inf = infinities; },
                     std::int64_t{1}, std::int64_t{0});
    table.add_replay("activation_overflow", "an Inf, not a NaN", gated_replay(),
                     [](Report& report, Facts&, std::int64_t infinities) {
                         report.birth->producer.result.nan = 1;
                         report.birth->producer.result.pos_inf = infinities;
                     },
                     std::int64_t{0}, std::int64_t{1});
    table.add_replay("activation_overflow", "held on by the island", gated_replay(),
                     [](Report& report, Facts&, std::optional<std::int64_t> later) { variant(report, "island").later_bad_at = later; },
                     std::optional<std::int64_t>(20), std::optional<std::int64_t>(), "island_bf16");
    Report loss = gated_replay();
    loss.birth->producer.module = "loss";
    table.add_replay("loss_in_half", "in the loss", loss,
                     [](Report& report, Facts&, const char* phase) { report.birth->producer.phase = phase; }, "forward", "loss");
    loss.birth->producer.phase = "loss";
    table.add_replay("loss_in_half", "in a half format", loss,
                     [](Report& report, Facts&, const char* dtype) { report.birth->producer.result.dtype = dtype; }, "float32", "float16");
}

void add_formulas(LimitTable& table) {
    for (const char* code : {"log_of_zero", "zero_over_zero", "inf_minus_inf", "root_at_zero", "masked_row"}) {
        Report report = log_replay(Precision::Fp16);
        report.birth->code = code;
        table.add_replay(code, "finite in `no`", report, finite("no"), false, true);
        table.add_replay("not_precision", std::string("bad in `no`: ") + code, report, finite("no"), true, false, "there");
    }
    table.add_replay("not_precision", "in the same place of `no`", log_replay(Precision::Fp16),
                     [](Report& report, Facts&, bool same) {
                         variant(report, "no").same_place = same;
                         variant(report, "no").place = "body.2.linear";
                     },
                     false, true, "there");
    table.add_replay("not_precision", "bad in `no`, whose own run it is", log_replay(Precision::No), finite("as_was"), true, false, "self");
}

}  // namespace

void add_limits_of_replays(LimitTable& table) {
    add_open(table);
    add_leaves(table);
    add_rate(table);
    add_precision(table);
    add_formulas(table);
}

}  // namespace mantissa::test
