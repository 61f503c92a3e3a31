// Rules that read tensor records and evaluations.
#include <cmath>

#include "record/exponent_histogram.h"
#include "verdict_limits.h"

namespace mantissa::test {
namespace {

using Evidence = ComparisonEvidence;

TensorStatRow output_row(std::int64_t step, double largest) {
    TensorStatRow row;
    row.step = step;
    row.tensor = "gate.mul";
    row.role = TensorRole::Output;
    row.dtype = "float16";
    row.elements = 64;
    row.largest = largest;
    return row;
}

double below_fp16(double bits) { return 65504 * std::exp2(-bits); }

void add_headroom(LimitTable& table) {
    const Evidence healthy = healthy_comparison();
    table.add("headroom_low", "1 bit, of the trial", healthy,
              [](Evidence& evidence, double bits) {
                  TrialReport trial;
                  trial.runs = true;
                  trial.op_kinds = 9;
                  trial.op_kinds_half = 5;
                  trial.headroom_module = "square";
                  trial.headroom_bits = bits;
                  evidence.runs[1].trial = trial;
              },
              1.001, 1.0, "trial");
    table.add("headroom_low", "1 bit, of a record", healthy,
              [](Evidence& evidence, double bits) { evidence.runs[1].rows.tensor_stats = {output_row(50, below_fp16(bits))}; }, 1.001,
              0.999, "steady");
    table.add("headroom_low", "0 bits: beyond it's an overflow", healthy,
              [](Evidence& evidence, std::int64_t infinities) {
                  evidence.runs[1].rows.tensor_stats = {output_row(50, 65504)};
                  evidence.runs[1].rows.tensor_stats[0].pos_inf = infinities;
              },
              std::int64_t{1}, std::int64_t{0});
    const auto falls_by = [](std::int64_t records, double bits) {
        std::vector<TensorStatRow> rows;
        for (std::int64_t i = 0; i < records; ++i)
            rows.push_back(output_row(50 * i, below_fp16(0.9 - bits * static_cast<double>(i) / static_cast<double>(records - 1))));
        return rows;
    };
    table.add("headroom_low", "rising: a fall by a quarter of a bit", healthy,
              [falls_by](Evidence& evidence, double bits) { evidence.runs[1].rows.tensor_stats = falls_by(4, bits); }, 0.249, 0.251,
              "rising");
    table.add("headroom_low", "rising: 4 records", healthy,
              [falls_by](Evidence& evidence, std::int64_t records) { evidence.runs[1].rows.tensor_stats = falls_by(records, 0.5); },
              std::int64_t{3}, std::int64_t{4}, "rising");
}

/// 1,000 gradients of the control: `small` of them 2^-26 (flushed in fp16 below scale 2^2), the others 2^-10.
TensorStatRow gradient_row(std::uint64_t small) {
    const auto bin_of = [](int exponent) { return static_cast<std::uint16_t>(histogram_place(std::ldexp(1.0, exponent)).index); };
    TensorStatRow row;
    row.step = 250;
    row.tensor = "head.weight";
    row.role = TensorRole::Gradient;
    row.dtype = "float32";
    row.elements = 1000;
    row.largest = 0x1p-10;
    row.smallest_nonzero = 0x1p-26;
    ExponentHistogram histogram;
    histogram.bins = {{bin_of(-26), small, 0}, {bin_of(-10), 1000 - small, 0}};
    row.exponents = histogram.to_blob();
    return row;
}

/// fp16 at loss scale 1 whose loss is so many times that of the control.
Evidence flushed(std::uint64_t small, double loss) {
    Evidence evidence = healthy_comparison();
    evidence.runs[0].rows.tensor_stats = {gradient_row(small)};
    for (StepRow& row : evidence.runs[1].rows.steps) {
        row.loss *= loss;
        row.loss_scale = 1;
    }
    return evidence;
}

void add_underflow(LimitTable& table) {
    table.add("gradient_underflow", "10 % of the gradients flushed", {},
              [](Evidence& evidence, std::uint64_t small) { evidence = flushed(small, 1.32); }, std::uint64_t{99}, std::uint64_t{100});
    table.add("gradient_underflow", "a loss 1.05 times that of the control", {},
              [](Evidence& evidence, double loss) { evidence = flushed(450, loss); }, 1.0499, 1.0501);
    table.add("gradient_underflow", "the scale at which they are flushed", flushed(450, 1.32),
              [](Evidence& evidence, double scale) {
                  for (StepRow& row : evidence.runs[1].rows.steps) row.loss_scale = scale;
              },
              4.0, 2.0, "raise");
    // 2^-26 needs scale 2^2, and values of 2^13 leave fp16 from there on.
    table.add("gradient_underflow", "no scale keeps half of what is flushed", flushed(450, 1.32),
              [](Evidence& evidence, int largest) {
                  TensorStatRow& row = evidence.runs[0].rows.tensor_stats[0];
                  const auto bin_of = [](int exponent) { return static_cast<std::uint16_t>(histogram_place(std::ldexp(1.0, exponent)).index); };
                  ExponentHistogram histogram;
                  histogram.bins = {{bin_of(-26), 450, 0}, {bin_of(largest), 550, 0}};
                  row.largest = std::exp2(largest);
                  row.exponents = histogram.to_blob();
              },
              13, 15, "bf16");
}

/// fp16 with batch norm and so many skipped steps; the control evaluates at 0.2.
Evidence with_batch_norm(std::int64_t skipped, double evaluated, double loss = 1) {
    Evidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs) {
        run.rows.op_dtypes.push_back({0, "forward", "batch_norm", "float32", 1, 0});
        run.rows.evaluations.push_back({300, "validation", "loss", 0.2, "fp32", 360});
        run.plan.batch_norm_on_skip = "keep";
    }
    for (std::int64_t step = 0; step < skipped; ++step) skip(evidence.runs[1], step, SkipKind::Probing);
    for (StepRow& row : evidence.runs[1].rows.steps) row.loss *= loss;
    evidence.runs[1].rows.evaluations[0].value = evaluated;
    return evidence;
}

void add_batch_norm(LimitTable& table) {
    table.add("batchnorm_poisoned", "an evaluation at 10 times the control's", {},
              [](Evidence& evidence, double evaluated) { evidence = with_batch_norm(1, evaluated); }, 2.0, 2.001, "evaluation");
    table.add("batchnorm_poisoned", "a training loss of at most twice the control's", {},
              [](Evidence& evidence, double loss) { evidence = with_batch_norm(1, 5, loss); }, 2.001, 1.999, "evaluation");
    table.add("batchnorm_poisoned", "1 skip", {},
              [](Evidence& evidence, std::int64_t skipped) { evidence = with_batch_norm(skipped, 5); }, std::int64_t{0}, std::int64_t{1},
              "evaluation");
    table.add("batchnorm_poisoned", "statistics that are kept", with_batch_norm(1, 5),
              [](Evidence& evidence, const char* what) { evidence.runs[1].plan.batch_norm_on_skip = what; }, "restore", "keep",
              "evaluation");
}

}  // namespace

void add_limits_of_tensors(LimitTable& table) {
    add_headroom(table);
    add_underflow(table);
    add_batch_norm(table);
}

}  // namespace mantissa::test
