// Gate 4 of the article: non-finite values, and whether the control is healthy beside them.
#include <cmath>
#include <limits>

#include "verdict_limits.h"

namespace mantissa::test {
namespace {

using Evidence = ComparisonEvidence;

/// fp16 stops at step 144, beside a healthy control.
Evidence stopped() {
    Evidence evidence = healthy_comparison();
    stop_at(evidence.runs[1], 144);
    return evidence;
}

Evidence gated() {
    Evidence evidence = stopped();
    evidence.runs[1].rows.incidents.push_back(overflow_incident(144));
    return evidence;
}

void grow_loss(Evidence& evidence, double growth) {
    auto& steps = evidence.runs[0].rows.steps;
    steps[130].loss = growth * steps[0].loss;
}

/// The norm of the 20 steps up to 144 over that of the 20 before.
void grow_norm(Evidence& evidence, double growth) {
    for (std::size_t step = 125; step <= 144; ++step) evidence.runs[0].rows.steps[step].grad_norm = growth;
}

void add_control(LimitTable& table) {
    table.add("learning_rate", "the control's loss at 1,000 times its start", stopped(), grow_loss, 999.0, 1000.0);
    table.add("learning_rate", "its norm at 10 times that of the 20 steps before", stopped(), grow_norm, 10.0, 10.1, "norm_half");
    table.add("learning_rate", "within the last 20 steps before the failure", stopped(),
              [](Evidence& evidence, std::size_t step) { evidence.runs[0].rows.steps[step].loss = 1e9; }, std::size_t{124},
              std::size_t{125});
    table.add("learning_rate", "a norm that grows and a run that breaks", healthy_comparison(),
              [](Evidence& evidence, bool breaks) {
                  for (std::size_t step = 280; step < 300; ++step) evidence.runs[0].rows.steps[step].grad_norm = 20;
                  if (breaks) stop_at(evidence.runs[1], 299);
              },
              false, true);
    table.add("not_precision", "a control that fails", healthy_comparison(),
              [](Evidence& evidence, double loss) { evidence.runs[0].rows.steps[200].loss = loss; }, 3e38,
              std::numeric_limits<double>::infinity());
    table.add("not_precision", "without having grown to 1,000 times its start", healthy_comparison(),
              [](Evidence& evidence, double growth) {
                  grow_loss(evidence, growth);
                  stop_at(evidence.runs[0], 144);
              },
              1000.0, 999.0);
    table.add("not_precision", "1 non-finite gradient", healthy_comparison(),
              [](Evidence& evidence, std::int64_t count) { evidence.runs[0].rows.steps[4].nonfinite_grads = count; }, std::int64_t{0},
              std::int64_t{1}, "gradient");
    Evidence control_fails = healthy_comparison();
    stop_at(control_fails.runs[0], 4);
    table.add("survived_by_skipping", "a skip of the very step", control_fails,
              [](Evidence& evidence, std::int64_t step) { skip(evidence.runs[1], step, SkipKind::Probing); }, std::int64_t{5},
              std::int64_t{4});
    table.add("survived_by_skipping", "1 step after it", control_fails,
              [](Evidence& evidence, std::size_t steps) {
                  skip(evidence.runs[1], 4, SkipKind::Probing);
                  evidence.runs[1].rows.steps.resize(steps);
              },
              std::size_t{5}, std::size_t{6});
}

TrialReport trial_with(double headroom_bits) {
    TrialReport trial;
    trial.runs = true;
    trial.op_kinds = 9;
    trial.op_kinds_half = 5;
    trial.headroom_module = "square";
    trial.headroom_bits = headroom_bits;
    return trial;
}

void add_overflow(LimitTable& table) {
    table.add("activation_overflow", "a healthy control: loss below 1,000 times its start", gated(), grow_loss, 1000.0, 999.0);
    table.add("activation_overflow", "a healthy control: norm up to 10 times that before", gated(), grow_norm, 10.1, 10.0);
    table.add("activation_overflow", "headroom of the trial below 0 bits", stopped(),
              [](Evidence& evidence, double bits) { evidence.runs[1].trial = trial_with(bits); }, 0.0, -0.001, "trial");
    table.add("activation_overflow", "in a half format", gated(),
              [](Evidence& evidence, const char* dtype) {
                  evidence.runs[1].rows.incidents[0].detail_json = std::string(R"({"dtype": ")") + dtype + R"("})";
              },
              "float32", "float16");
    table.add("activation_overflow", "hidden: the loss stayed finite", healthy_comparison(),
              [](Evidence& evidence, const char* module) {
                  evidence.runs[1].rows.incidents.push_back(overflow_incident(66));
                  evidence.runs[1].rows.incidents[0].module = module;
              },
              "loss", "gate", "hidden_seen");
    table.add("unknown", "no place is known", stopped(),
              [](Evidence& evidence, bool has_place) {
                  if (has_place) evidence.runs[1].rows.incidents.push_back(overflow_incident(144));
              },
              true, false);
    table.add("unknown", "a healthy control: loss below 1,000 times its start", stopped(), grow_loss, 1000.0, 999.0);
    table.add("unknown", "a loss that isn't finite", healthy_comparison(),
              [](Evidence& evidence, double loss) { evidence.runs[1].rows.steps[144].loss = loss; }, 65504.0, HUGE_VAL);
    table.add("cause_open", "no control with a step", stopped(),
              [](Evidence& evidence, std::size_t steps) { evidence.runs[0].rows.steps.resize(steps); }, std::size_t{1}, std::size_t{0});
    Evidence alone;
    alone.modes = {Precision::Fp16};
    alone.runs.push_back(healthy_run(Precision::Fp16));
    table.add("cause_open", "8 faults in a row", alone,
              [](Evidence& evidence, std::int64_t faults) {
                  for (std::int64_t i = 0; i < faults; ++i) skip(evidence.runs[0], 100 + i, SkipKind::Fault);
              },
              std::int64_t{7}, std::int64_t{8}, "skips");
}

void add_incidents(LimitTable& table) {
    for (const std::string_view code : incident_codes()) {
        const std::string kind(code);
        table.add(kind, "an incident with its place", healthy_comparison(),
                  [kind](Evidence& evidence, const char* module) { evidence.runs[1].rows.incidents = {incident_of(kind, 12, module)}; }, "",
                  "body.3");
    }
    table.add("weights_poisoned", "an incident of it, beside a bad loss", healthy_comparison(),
              [](Evidence& evidence, const char* kind) {
                  evidence.runs[0].rows.steps[172].nonfinite_loss = true;
                  evidence.runs[0].rows.incidents = {incident_of(kind, 172)};
              },
              "unknown", "weights_poisoned");
    table.add("weights_poisoned", "or a summary that says so", healthy_comparison(),
              [](Evidence& evidence, bool poisoned) {
                  evidence.runs[0].rows.steps[172].nonfinite_loss = true;
                  evidence.runs[0].summary.poisoned = poisoned;
              },
              false, true, "plain");
}

}  // namespace

void add_limits_of_nonfinite(LimitTable& table) {
    add_control(table);
    add_overflow(table);
    add_incidents(table);
}

}  // namespace mantissa::test
