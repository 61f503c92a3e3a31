#include "ui/runs/continued_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/resume.h"
#include "plan/catalogue.h"
#include "plan/plan_fields.h"
#include "plan/resume_check.h"
#include "plan/validate.h"

namespace mantissa::ui {
namespace {

/// As an edit, with what it overrules.
void put(SourcedPlan& sourced, const char* path, const nlohmann::json& value) {
    const PlanField& field = *find_plan_field(path);
    ValueOrigin& origin = sourced.origins[path];
    const std::string before = field_text(field, sourced.plan);
    const auto set = field.set(field, sourced.plan, value);
    MANTISSA_ASSERT(set.ok());
    const std::string after = field_text(field, sourced.plan);
    if (before != after && origin.source != ValueSource::Default) {
        origin.overruled.insert(origin.overruled.begin(), {origin.source, origin.detail, before});
    }
    origin.source = ValueSource::Edit;
    origin.detail = "window";
    origin.value = after;
}

}  // namespace

Result<void> changePlan(SourcedPlan& plan, Precision mode, const std::vector<std::string>& changes) {
    for (const std::string& change : changes) {
        const std::size_t equals = std::min(change.find('='), change.size());
        const std::string path = change.substr(0, equals);
        const PlanField* field = find_plan_field(path);
        if (field == nullptr) {
            return unknown_field(path);
        }
        const nlohmann::json value = value_from_text(*field, change.substr(std::min(equals + 1, change.size())));
        RunPlan trial = plan.plan;
        if (auto allowed = field->set(*field, trial, value); !allowed) {
            return allowed.error();
        }
        put(plan, path.c_str(), value);
    }
    put(plan, "mixed_precision", to_string(mode));
    put(plan, "launch.scope", "process");  // another mode needs a fresh one
    plan.plan.modes.clear();               // a single run: those of a comparison that it came from say nothing
    plan.origins.erase("modes");
    return {};
}

Result<SourcedPlan> continuedPlan(const CheckpointInfo& from, Precision mode, std::int64_t furtherSteps, const std::vector<std::string>& changes) {
    auto saved = plan_of_checkpoint(from);
    if (!saved) {
        return saved.error();
    }
    SourcedPlan next = *saved;
    put(next, "training.epochs", nullptr);
    next.origins.erase("training.epochs");
    put(next, "training.max_steps", from.step + furtherSteps);
    put(next, "checkpoint.resume_from", from.path.string());
    if (auto changed = changePlan(next, mode, changes); !changed) {
        return changed.error();
    }
    const auto fits = check_resume(saved->plan, from.step, next.plan);
    if (!fits) {
        return fits.error();
    }
    const auto issues = find_plan_issues(next.plan);
    return issues.empty() ? Result<SourcedPlan>(std::move(next)) : Result<SourcedPlan>(issues.front().error);
}

std::int64_t suggestedSteps(const CheckpointInfo& from) {
    const auto saved = plan_of_checkpoint(from);
    const std::int64_t planned = saved ? known_steps(saved->plan).value_or(0) : 0;
    if (planned > from.step) {
        return planned - from.step;
    }
    return std::clamp<std::int64_t>(from.step, 1, 1000);
}

}  // namespace mantissa::ui
