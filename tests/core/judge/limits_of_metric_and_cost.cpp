// Gates 5 and 6 of the article: the validation metric, time and memory.
#include "judge/metric_ruler.h"
#include "verdict_limits.h"

namespace mantissa::test {
namespace {

using Evidence = ComparisonEvidence;

RunEvidence replica(double loss_offset, double metric) {
    RunEvidence run = healthy_run(Precision::No);
    for (StepRow& row : run.rows.steps) row.loss += loss_offset;
    run.summary.metric = metric;
    return run;
}

/// Metric 94 to 96 % over four runs of `no`; two deviations of the loss are 0.01633.
Evidence repeated() {
    Evidence evidence = healthy_comparison();
    evidence.repetitions = {replica(-0.01, 0.94), replica(0.01, 0.96), replica(0, 0.95)};
    return evidence;
}

void move_loss(Evidence& evidence, double offset, std::size_t from = 0) {
    auto& steps = evidence.runs[1].rows.steps;
    for (std::size_t i = from; i < steps.size(); ++i) steps[i].loss += offset;
}

void add_metric(LimitTable& table) {
    const Evidence healthy = healthy_comparison();
    const double noise = two_standard_errors(0.95, 360);
    const auto worse_by = [](Evidence& evidence, double difference) {
        for (std::size_t i = 1; i < 3; ++i) evidence.runs[i].summary.metric = 0.95 - difference;
    };
    table.add("differs", "two standard errors below", healthy, worse_by, noise - 1e-9, noise + 1e-9, "worse");
    table.add("differs", "two standard errors above", healthy, worse_by, -noise + 1e-9, -noise - 1e-9, "better");
    table.add("same_within_noise", "two standard errors", healthy, worse_by, noise + 1e-9, noise - 1e-9, "errors");

    // The smoothed loss follows a jump by 1 within one step.
    const auto outside_from = [](Evidence& evidence, std::size_t from) {
        evidence.runs[1].summary.metric = 0.9;
        move_loss(evidence, 1, from);
    };
    table.add("differs", "50 of the last 60 smoothed steps outside", repeated(), outside_from, std::size_t{251}, std::size_t{250},
              "worse_repeated");
    table.add("same_within_noise", "49 of the last 60 smoothed steps outside", repeated(), outside_from, std::size_t{250},
              std::size_t{251}, "repeated_loss");
    const auto moved_by = [](Evidence& evidence, double offset) {
        evidence.runs[1].summary.metric = 0.9;
        move_loss(evidence, offset);
    };
    table.add("differs", "two deviations of the repetitions", repeated(), moved_by, 0.0163, 0.0164, "worse_repeated");
    const auto with_metric = [](Evidence& evidence, double metric) {
        evidence.runs[1].summary.metric = metric;
        move_loss(evidence, 1);
    };
    table.add("differs", "below the range of the repetitions", repeated(), with_metric, 0.94, 0.9399, "worse_repeated");
    table.add("differs", "above the range of the repetitions", repeated(), with_metric, 0.96, 0.9601, "better_repeated");
    table.add("differs", "3 runs of `no` that reached their end", repeated(),
              [with_metric](Evidence& evidence, std::size_t repetitions) {
                  with_metric(evidence, 0.9);
                  evidence.repetitions.erase(evidence.repetitions.begin() + static_cast<std::ptrdiff_t>(repetitions),
                                             evidence.repetitions.end());
              },
              std::size_t{1}, std::size_t{2}, "worse_repeated");
    table.add("differs", "a run of the control's length", healthy,
              [worse_by](Evidence& evidence, std::int64_t steps) {
                  worse_by(evidence, 0.3);
                  for (std::size_t i = 1; i < 3; ++i) evidence.runs[i].summary.steps = steps;
              },
              std::int64_t{299}, std::int64_t{300});
    const auto steps_of = [](Evidence& evidence, std::int64_t steps) { evidence = healthy_comparison(steps); };
    table.add("same_within_noise", "time after 30 steps", {}, steps_of, std::int64_t{29}, std::int64_t{30}, "measured");
    table.add("same_within_noise", "no time after 29 steps", {}, steps_of, std::int64_t{30}, std::int64_t{29}, "few_steps");
}

/// Half multiply-adds, and a clocked step that spent so much in products.
TrialReport clocked(double products_ms, double step_ms) {
    TrialReport trial;
    trial.runs = true;
    trial.op_kinds = 9;
    trial.op_kinds_half = 5;
    trial.multiply_adds = trial.multiply_adds_half = 1000;
    trial.op_time = {products_ms, step_ms};
    return trial;
}

void add_cost(LimitTable& table) {
    const Evidence healthy = healthy_comparison();  // 5 ms and 12 MB
    table.add("slower", "1.1 times the time of `no`", healthy,
              [](Evidence& evidence, double ms) { evidence.runs[2].summary.step_ms_median = ms; }, 5.5, 5.51);
    Evidence slow = healthy;
    slow.runs[2].summary.step_ms_median = 6;
    table.add("slower", "a native mode", slow, [](Evidence& evidence, Support support) { evidence.runs[2].summary.support = support; },
              Support::Emulated, Support::Native);
    table.add("slower", "30 steps", slow, [](Evidence& evidence, std::size_t steps) { evidence.runs[2].rows.steps.resize(steps); },
              std::size_t{29}, std::size_t{30});
    table.add("slower", "runs that took turns", slow, [](Evidence& evidence, const char* order) { evidence.order = order; }, "at-once",
              "turns");
    table.add("slower", "the loader above 20 % of the step", slow,
              [](Evidence& evidence, std::int64_t data_ns) {
                  for (StepRow& row : evidence.runs[2].rows.steps) row.data_ns = data_ns;
              },
              std::int64_t{1'250'000}, std::int64_t{1'251'000}, "loader");
    const auto clock = [](double products_ms, double step_ms) {
        return [=](Evidence& evidence, double changed) {
            evidence.runs[0].trial = clocked(4, 5);
            evidence.runs[2].trial = clocked(products_ms > 0 ? products_ms : changed, step_ms > 0 ? step_ms : changed);
        };
    };
    table.add("slower", "above 30 % of the step outside products and convolutions", slow, clock(4.2, 0), 6.0, 6.01, "outside");
    table.add("slower", "half products 1.1 times those of `no`", slow, clock(0, 5.6), 4.4, 4.41, "products");
    table.add("slower", "none of the three up to their limits", slow, clock(0, 6), 4.19, 4.2, "none");
    table.add("slower", "no cause that wasn't measured", slow,
              [](Evidence& evidence, bool measured) {
                  evidence.runs[0].trial = clocked(4, 5);
                  evidence.runs[2].trial = clocked(3, 6);
                  if (!measured) evidence.runs[2].trial->op_time.reset();
              },
              true, false, "plain");
    const auto memory = [](Evidence& evidence, std::int64_t bytes) {
        for (std::size_t i = 1; i < 3; ++i) evidence.runs[i].summary.memory_peak_bytes = bytes;
    };
    table.add("memory_not_lower", "the bytes of `no`", healthy, memory, std::int64_t{11'999'999}, std::int64_t{12'000'000});
    table.add("memory_not_lower", "30 steps", {}, [](Evidence& evidence, std::int64_t steps) { evidence = healthy_comparison(steps); },
              std::int64_t{29}, std::int64_t{30});
}

}  // namespace

void add_limits_of_metric_and_cost(LimitTable& table) {
    add_metric(table);
    add_cost(table);
}

}  // namespace mantissa::test
