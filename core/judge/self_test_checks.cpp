#include "judge/self_test_checks.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mantissa {
namespace {

std::int64_t work_in(const SelfTestRun& run, const char* dtype) {
    std::int64_t sum = 0;
    for (const OpDtypeRow& row : run.op_dtypes)
        if (row.dtype == dtype) sum += row.multiply_adds;
    return sum;
}

bool is_near(double value, double expected, double share) {
    return std::abs(value - expected) <= share * std::abs(expected);
}

void check_ops(const SelfTestRun& run, std::vector<std::string>& broken) {
    const std::int64_t fp16 = work_in(run, "float16"), bf16 = work_in(run, "bfloat16");
    const std::int64_t fp8 = std::min(work_in(run, "float8_e4m3fn"), work_in(run, "float8_e5m2"));  // both passes
    if ((run.mode == Precision::Fp16) != (fp16 > 0))
        broken.push_back(std::to_string(fp16) + " multiply-adds ran in float16");
    if ((run.mode == Precision::Fp8) != (fp8 > 0)) broken.push_back(std::to_string(fp8) + " multiply-adds ran in fp8");
    // In fp8 what isn't fp8 is bf16.
    if (run.mode != Precision::Fp8 && (run.mode == Precision::Bf16) != (bf16 > 0))
        broken.push_back(std::to_string(bf16) + " multiply-adds ran in bfloat16");
}

void check_pair(const SelfTestRun& run, const StepRow& now, const StepRow& next,
                std::vector<std::string>& broken) {
    const std::string at = "step " + std::to_string(now.step) + ": ";
    if (next.applied_step != now.applied_step + (next.skipped ? 0 : 1))
        broken.push_back(at + "the count of applied steps is wrong after it");
    const double rate = now.learning_rate * (now.skipped ? 1.0 : run.gamma);
    if (!is_near(next.learning_rate, rate, 1e-9))
        broken.push_back(at + (now.skipped ? "the schedule moved although the step was skipped"
                                           : "the schedule did not move"));
    if (now.skipped && now.loss_scale && next.loss_scale != *now.loss_scale / 2)
        broken.push_back(at + "the loss scale did not back off after the overflow");
    if (!now.skipped && now.loss_scale && next.loss_scale != now.loss_scale)
        broken.push_back(at + "the loss scale moved without an overflow");
}

void check_scale(const SelfTestRun& run, std::vector<std::string>& broken) {
    const auto skipped =
        std::count_if(run.steps.begin(), run.steps.end(), [](const StepRow& step) { return step.skipped; });
    const bool has_scale = run.mode == Precision::Fp16;
    if (has_scale && skipped == 0)
        broken.emplace_back("no step overflowed at a loss scale that is too large");
    if (!has_scale && skipped > 0) broken.push_back(std::to_string(skipped) + " steps were skipped");
    if (run.steps.front().loss_scale.has_value() != has_scale)
        broken.emplace_back(has_scale ? "there is no loss scale" : "there is a loss scale");
    for (const StepRow& step : run.steps)
        if (step.skipped == std::isfinite(step.grad_norm))
            broken.push_back("step " + std::to_string(step.step) +
                             (step.skipped ? ": skipped with finite gradients"
                                           : ": applied with gradients that are not finite"));
}

void check_loss(const SelfTestRun& run, std::vector<std::string>& broken) {
    const double first = run.steps.front().loss, last = run.steps.back().loss;
    // Equal weights and data: what differs is the rounding of one forward pass.
    const double share = run.mode == Precision::No ? 0 : 0.02;
    if (!is_near(first, run.control_loss, share))
        broken.push_back("the first loss is " + to_text(first) + ", that of no is " +
                         to_text(run.control_loss));
    if (!(last < first))
        broken.push_back("the loss did not fall: " + to_text(first) + " to " + to_text(last));
}

}  // namespace

std::vector<std::string> broken_promises(const SelfTestRun& run) {
    std::vector<std::string> broken;
    if (run.steps.empty() || static_cast<std::int64_t>(run.steps.size()) != run.planned_steps) {
        broken.push_back(std::to_string(run.steps.size()) + " of " + std::to_string(run.planned_steps) +
                         " steps were recorded");
        return broken;
    }
    check_ops(run, broken);
    check_scale(run, broken);
    for (std::size_t i = 0; i + 1 < run.steps.size(); ++i)
        check_pair(run, run.steps[i], run.steps[i + 1], broken);
    check_loss(run, broken);
    return broken;
}

std::vector<std::string> differences_after_resume(const std::vector<StepRow>& uncut, const std::vector<StepRow>& resumed) {
    if (uncut.empty() || resumed.empty()) return {"the training that went on from a checkpoint recorded no step"};
    std::vector<std::string> found;
    if (resumed.back().step != uncut.back().step)
        found.push_back("gone on from a checkpoint, it ended at step " + std::to_string(resumed.back().step));
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    for (const StepRow& row : resumed) {
        const auto other = std::find_if(uncut.begin(), uncut.end(), [&](const StepRow& one) { return one.step == row.step; });
        const bool is_equal = other != uncut.end() && same(row.loss, other->loss) && same(row.grad_norm, other->grad_norm) &&
                              row.loss_scale == other->loss_scale && row.growth_tracker == other->growth_tracker &&
                              row.learning_rate == other->learning_rate && row.skipped == other->skipped &&
                              row.applied_step == other->applied_step;
        if (!is_equal) {
            found.push_back("step " + std::to_string(row.step) + " is another after going on from a checkpoint");
            break;  // what follows differs because of it
        }
    }
    return found;
}

std::vector<std::string> differences_from_cpu(Precision mode, const std::vector<StepRow>& cpu, const std::vector<StepRow>& gpu) {
    constexpr std::size_t compared = 10;
    constexpr double rounding_of_fp32 = 1e-4, rounding_of_fp16 = 2e-2, rounding_of_bf16 = 6e-2, rounding_of_fp8 = 0.15;
    const double limit = mode == Precision::No     ? rounding_of_fp32
                         : mode == Precision::Fp16 ? rounding_of_fp16
                         : mode == Precision::Bf16 ? rounding_of_bf16
                                                   : rounding_of_fp8;
    if (cpu.size() != gpu.size())
        return {"the CPU recorded " + std::to_string(cpu.size()) + " steps, the GPU " + std::to_string(gpu.size())};
    for (std::size_t i = 0; i < cpu.size(); ++i) {
        const std::string at = "step " + std::to_string(cpu[i].step);
        if (cpu[i].skipped != gpu[i].skipped) return {at + (gpu[i].skipped ? " was skipped on the GPU alone" : " was skipped on the CPU alone")};
        const bool is_near = std::abs(cpu[i].loss - gpu[i].loss) <= limit;  // a NaN isn't
        if (i < compared && !is_near)
            return {at + " has the loss " + readable_number(gpu[i].loss) + " on the GPU, " + readable_number(cpu[i].loss) + " on the CPU"};
    }
    return {};
}

}  // namespace mantissa
