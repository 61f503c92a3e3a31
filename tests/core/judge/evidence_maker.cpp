#include "evidence_maker.h"

#include <cmath>
#include <limits>

namespace mantissa::test {

RunEvidence healthy_run(Precision mode, std::int64_t steps) {
    RunEvidence run;
    RunSummary& summary = run.summary;
    summary.name = "digits-mlp";
    summary.model = "mlp";
    summary.dataset = "digits";
    summary.mode = summary.requested = summary.effective = mode;
    summary.device = "cpu";
    summary.state = RunState::Finished;
    summary.planned_steps = summary.steps = summary.applied_steps = steps;
    summary.metric_name = "accuracy";
    summary.metric = summary.best_metric = 0.95;
    summary.validation_samples = 360;
    summary.step_ms_median = 5.0;
    summary.memory_peak_bytes = 12'000'000;
    for (std::int64_t step = 0; step < steps; ++step) {
        StepRow row;
        row.step = step;
        row.applied_step = step + 1;
        row.loss = 0.05 + 2.25 * std::exp(-static_cast<double>(step) / 40.0);
        row.grad_norm = 1.0;
        row.learning_rate = 1e-3;
        row.memory_peak_bytes = 12'000'000;
        row.step_ns = 5'000'000;
        if (mode == Precision::Fp16) row.loss_scale = 65536.0;
        run.rows.steps.push_back(row);
    }
    summary.first_loss = 2.3;
    summary.final_loss = 0.05;
    if (mode == Precision::Fp16) summary.final_scale = 65536.0;
    const std::string half = mode == Precision::Fp16   ? "float16"
                             : mode == Precision::Bf16 ? "bfloat16"
                                                       : "float32";
    run.rows.op_dtypes = {{0, "forward", "linear", half, 2, 1000},
                          {0, "forward", "nll_loss", "float32", 1, 0}};
    run.plan.learning_rate = 1e-3;
    run.plan.loss_scale_floor = std::ldexp(1.0, -14);
    run.plan.on_nonfinite = "stop";
    set_environment(run);
    return run;
}

ComparisonEvidence healthy_comparison(std::int64_t steps) {
    ComparisonEvidence evidence;
    evidence.modes = {Precision::No, Precision::Fp16, Precision::Bf16};
    for (const Precision mode : evidence.modes) evidence.runs.push_back(healthy_run(mode, steps));
    return evidence;
}

void skip(RunEvidence& run, std::int64_t step, SkipKind kind) {
    StepRow& row = run.rows.steps.at(static_cast<std::size_t>(step));
    row.skipped = true;
    row.skip_kind = kind;
    recount(run);
}

void recount(RunEvidence& run) {
    std::int64_t applied = 0;
    RunSummary& summary = run.summary;
    summary.skipped_probing = summary.skipped_fault = summary.nonfinite_loss_steps = 0;
    summary.first_nonfinite_step.reset();
    for (StepRow& row : run.rows.steps) {
        if (!row.skipped && !row.nonfinite_loss) ++applied;
        row.applied_step = applied;
        summary.skipped_probing += row.skip_kind == SkipKind::Probing ? 1 : 0;
        summary.skipped_fault += row.skip_kind == SkipKind::Fault ? 1 : 0;
        summary.nonfinite_loss_steps += row.nonfinite_loss ? 1 : 0;
        if (row.nonfinite_loss && !summary.first_nonfinite_step) summary.first_nonfinite_step = row.step;
    }
    summary.applied_steps = applied;
    summary.steps = static_cast<std::int64_t>(run.rows.steps.size());
}

void stop_at(RunEvidence& run, std::int64_t step) {
    run.rows.steps.resize(static_cast<std::size_t>(step) + 1);
    StepRow& row = run.rows.steps.back();
    row.loss = std::numeric_limits<double>::quiet_NaN();
    row.nonfinite_loss = true;
    row.skipped = true;
    row.skip_kind = SkipKind::Fault;
    run.summary.state = RunState::StoppedNonfinite;
    run.summary.metric.reset();
    run.summary.final_loss = row.loss;
    recount(run);
}

void set_environment(RunEvidence& run, const std::string& weights, const std::string& order) {
    run.environment_json = R"({"threads": 1, "process_id": )" +
                           std::to_string(100 + static_cast<int>(run.summary.mode)) +
                           R"(, "precision": {"effective": ")" + to_string(run.summary.mode) +
                           R"("}, "hashes": {"initial_state": ")" + weights +
                           R"(", "data": "d", "sample_order": ")" + order + R"(", "plan": "p"}})";
}

IncidentRow overflow_incident(std::int64_t step) {
    IncidentRow incident;
    incident.step = step;
    incident.phase = "forward";
    incident.kind = "activation_overflow";
    incident.severity = "error";
    incident.module = "gate";
    incident.op = "mul";
    incident.detail_json =
        R"({"operands": [261.0, 256.0], "result": "+Inf", "dtype": "float16", "limit": 65504.0})";
    return incident;
}

std::vector<Finding> findings_of(const ComparisonEvidence& evidence, std::string_view code) {
    const Case all(evidence);
    std::vector<Finding> found;
    for (Finding& finding : apply_rules(all)) {
        if (finding.code == code) found.push_back(std::move(finding));
    }
    return found;
}

std::vector<Verdict> verdicts_of(const ComparisonEvidence& evidence) {
    const Case all(evidence);
    return fill_findings(apply_rules(all), texts());
}

std::vector<std::string> codes_of(const ComparisonEvidence& evidence) {
    std::vector<std::string> codes;
    for (const Verdict& verdict : verdicts_of(evidence)) codes.push_back(verdict.code);
    return codes;
}

const TextCatalogue& texts(const std::string& language) {
    const auto catalogue = text_catalogue(language);
    MANTISSA_ASSERT(catalogue.ok());
    return **catalogue;
}

}  // namespace mantissa::test
