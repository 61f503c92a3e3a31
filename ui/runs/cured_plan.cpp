#include "ui/runs/cured_plan.h"

#include <algorithm>

#include "base/numbers.h"
#include "launch/resume.h"
#include "plan/plan_file.h"
#include "plan/resume_check.h"
#include "plan/validate.h"
#include "record/checkpoint_info.h"
#include "record/run_folder.h"
#include "ui/runs/continued_plan.h"

namespace mantissa::ui {

std::vector<std::string> settingsOf(const VariantReport& variant, const RunPlan& plan) {
    if (variant.id == "island") {
        std::string islands;
        for (const std::string& one : plan.fp32_islands) {
            islands += one + ",";
        }
        return {"fp32_islands=" + islands + variant.island};
    }
    if (variant.id == "half_rate") {
        return {"training.optimizer.learning_rate=" + to_text(plan.training.optimizer.learning_rate / 2)};
    }
    if (variant.id == "custom") {
        return variant.settings;
    }
    if (variant.id == "scale_1") {
        return {"loss_scale.initial=1", "loss_scale.growth_factor=1", "loss_scale.backoff_factor=1"};
    }
    return {};
}

Result<SourcedPlan> curedPlan(const std::filesystem::path& state, const VariantReport& variant) {
    const auto info = read_checkpoint_info(state);
    if (!info) {
        return info.error();
    }
    const auto saved = plan_of_checkpoint(*info);
    if (!saved) {
        return saved.error();
    }
    auto plan = continuedPlan(*info, variant.mode, suggestedSteps(*info), settingsOf(variant, saved->plan));
    if (!plan) {
        return plan.error();
    }
    if (auto notes = check_resume(saved->plan, info->step, plan->plan); notes) {
        plan->notes = std::move(*notes);
    }
    return plan;
}

Result<SourcedPlan> curedPlanFromSeed(const std::filesystem::path& run, const VariantReport& variant) {
    auto plan = read_plan_file(RunFolder{run}.plan());
    if (!plan) {
        return plan.error();
    }
    if (auto changed = changePlan(*plan, variant.mode, settingsOf(variant, plan->plan)); !changed) {
        return changed.error();
    }
    const auto issues = find_plan_issues(plan->plan);
    return issues.empty() ? Result<SourcedPlan>(std::move(*plan)) : Result<SourcedPlan>(issues.front().error);
}

}  // namespace mantissa::ui
