#pragma once
// What `mantissa test` demands of the recording of its short training: that the mode really ran, that an
// overflow skips the step, backs the scale off and holds the schedule, and that the model learns.
#include <cstdint>
#include <string>
#include <vector>

#include "base/precision.h"
#include "record/rows.h"

namespace mantissa {

struct SelfTestRun {
    Precision mode = Precision::No;
    std::int64_t planned_steps = 0;
    double gamma = 0;         // of the learning rate at each applied step
    double control_loss = 0;  // first loss of mode `no`
    std::vector<StepRow> steps;
    std::vector<OpDtypeRow> op_dtypes;
};

/// One sentence per promise that the recording breaks; empty: all hold.
[[nodiscard]] std::vector<std::string> broken_promises(const SelfTestRun& run);

/// What a training that went on from a checkpoint shows otherwise than the one that never stopped (step, loss, norm, scale, learning
/// rate, skips: to the bit); empty: nothing.
[[nodiscard]] std::vector<std::string> differences_after_resume(const std::vector<StepRow>& uncut, const std::vector<StepRow>& resumed);

/// What a training on a GPU shows otherwise than the same on the CPU: losses of the first ten steps farther apart than the mode's rounding
/// explains, or another step skipped; empty: nothing.
[[nodiscard]] std::vector<std::string> differences_from_cpu(Precision mode, const std::vector<StepRow>& cpu, const std::vector<StepRow>& gpu);

}  // namespace mantissa
