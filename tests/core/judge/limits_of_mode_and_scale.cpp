// Gates 1 and 3 of the article: is the mode on, and what do the skips say.
#include <cmath>

#include "verdict_limits.h"

namespace mantissa::test {
namespace {

using Evidence = ComparisonEvidence;

void skip_first(RunEvidence& run, std::int64_t steps, SkipKind kind) {
    for (std::int64_t step = 0; step < steps; ++step) skip(run, step, kind);
}

void add_mode(LimitTable& table) {
    const Evidence healthy = healthy_comparison();
    table.add("mode_not_effective", "0 op kinds with half results, not 1", healthy,
              [](Evidence& evidence, int half_kinds) {
                  if (half_kinds == 0) evidence.runs[2].rows.op_dtypes[0].dtype = "float32";
              },
              1, 0);
    table.add("mode_not_effective", "the trial's 0 op kinds in half, where the run recorded none", healthy,
              [](Evidence& evidence, std::int64_t half_kinds) {
                  TrialReport trial;
                  trial.runs = true;
                  trial.op_kinds = 9;
                  trial.op_kinds_half = half_kinds;
                  evidence.runs[1].rows.op_dtypes.clear();
                  evidence.runs[1].trial = trial;
              },
              std::int64_t{1}, std::int64_t{0});
    table.add("mode_not_effective", "another effective mode", healthy,
              [](Evidence& evidence, Precision effective) { evidence.runs[2].summary.effective = effective; }, Precision::Bf16,
              Precision::No, "other_mode");
    table.add("mode_not_effective", "a run that made a step", healthy,
              [](Evidence& evidence, std::size_t steps) {
                  evidence.runs[2].summary.effective = Precision::No;
                  evidence.runs[2].rows.steps.resize(steps);
              },
              std::size_t{0}, std::size_t{1});
    const auto loss_gives = [](const char* phase) {
        return [phase](Evidence& evidence, const char* dtype) {
            evidence.runs[1].rows.op_dtypes.push_back({0, phase, "mse_loss", dtype, 1, 0});
        };
    };
    table.add("loss_in_half", "a loss that gives float16", healthy, loss_gives("forward"), "float32", "float16");
    table.add("loss_in_half", "of the forward pass", healthy,
              [](Evidence& evidence, const char* phase) {
                  evidence.runs[1].rows.op_dtypes.push_back({0, phase, "cross_entropy_loss", "float16", 1, 0});
              },
              "backward", "forward");
    table.add("loss_in_half", "an op that is a loss", healthy,
              [](Evidence& evidence, const char* op) { evidence.runs[1].rows.op_dtypes.push_back({0, "forward", op, "bfloat16", 1, 0}); },
              "sub", "l1_loss");
}

void add_probing(LimitTable& table) {
    const Evidence healthy = healthy_comparison();
    const auto skips_at_start = [](Evidence& evidence, std::int64_t steps) { skip_first(evidence.runs[1], steps, SkipKind::Probing); };
    table.add("scale_probing", "1 skip", healthy, skips_at_start, std::int64_t{0}, std::int64_t{1});
    table.add("scale_probing", "no fault among the skips", healthy,
              [](Evidence& evidence, SkipKind second) {
                  skip(evidence.runs[1], 0, SkipKind::Probing);
                  skip(evidence.runs[1], 100, second);
              },
              SkipKind::Fault, SkipKind::Probing);
    table.add("scale_probing", "1 applied step", healthy_comparison(40), skips_at_start, std::int64_t{40}, std::int64_t{39});
    table.add("scale_probing", "a skip after the first applied step", healthy,
              [](Evidence& evidence, std::int64_t step) { skip(evidence.runs[1], step, SkipKind::Probing); }, std::int64_t{0},
              std::int64_t{1}, "later");

    const Evidence hundred = healthy_comparison(100);
    table.add("steps_not_applied", "less than 9 of 10 applied", hundred, skips_at_start, std::int64_t{10}, std::int64_t{11});
    table.add("steps_not_applied", "20 attempts", healthy_comparison(20),
              [](Evidence& evidence, std::size_t attempts) {
                  evidence.runs[1].rows.steps.resize(attempts);
                  skip_first(evidence.runs[1], 5, SkipKind::Probing);
              },
              std::size_t{19}, std::size_t{20});
    table.add("steps_not_applied", "not one applied", hundred, skips_at_start, std::int64_t{99}, std::int64_t{100}, "none");
}

void add_persistent(LimitTable& table) {
    const Evidence healthy = healthy_comparison();
    const auto faults_in_row = [](Evidence& evidence, std::int64_t faults) {
        for (std::int64_t i = 0; i < faults; ++i) skip(evidence.runs[1], 100 + i, SkipKind::Fault);
    };
    table.add("persistent_overflow", "8 faults in a row", healthy, faults_in_row, std::int64_t{7}, std::int64_t{8});
    const auto every_fifth = [](Evidence& evidence, std::int64_t faults) {
        for (std::int64_t i = 0; i < faults; ++i) skip(evidence.runs[1], 100 + 5 * i, SkipKind::Fault);
    };
    table.add("persistent_overflow", "10 faults in 50 steps", healthy, every_fifth, std::int64_t{9}, std::int64_t{10});
    table.add("persistent_overflow", "50 steps from the first of 10 faults to the last", healthy,
              [every_fifth](Evidence& evidence, std::int64_t last) {
                  every_fifth(evidence, 9);
                  skip(evidence.runs[1], 100 + last, SkipKind::Fault);
              },
              std::int64_t{50}, std::int64_t{49});
    table.add("persistent_overflow", "the control's loss at 1,000 times its start", healthy,
              [faults_in_row](Evidence& evidence, double growth) {
                  faults_in_row(evidence, 8);
                  auto& steps = evidence.runs[0].rows.steps;
                  steps[95].loss = growth * steps[0].loss;
              },
              999.0, 1000.0, "control_grows");
}

void add_collapse(LimitTable& table) {
    const Evidence healthy = healthy_comparison();  // floor 2^-14
    table.add("scale_collapse", "a skip with the scale at its floor", healthy,
              [](Evidence& evidence, double scale) {
                  evidence.runs[1].rows.steps[40].loss_scale = scale;
                  skip(evidence.runs[1], 40, SkipKind::Fault);
              },
              0x1p-13, 0x1p-14);
    table.add("scale_collapse", "an incident of the collapse itself, not of the way down", healthy,
              [](Evidence& evidence, const char* severity) {
                  evidence.runs[1].rows.incidents.push_back(incident_of("scale_collapse", 30));
                  evidence.runs[1].rows.incidents.back().severity = severity;
              },
              "warning", "error");
    table.add("scale_collapse", "a floor above 1", healthy,
              [](Evidence& evidence, double floor) {
                  evidence.runs[1].plan.loss_scale_floor = floor;
                  evidence.runs[1].rows.steps[40].loss_scale = floor;
                  skip(evidence.runs[1], 40, SkipKind::Fault);
              },
              1.0, 2.0, "high_floor");
}

}  // namespace

void add_limits_of_mode_and_scale(LimitTable& table) {
    add_mode(table);
    add_probing(table);
    add_persistent(table);
    add_collapse(table);
}

}  // namespace mantissa::test
