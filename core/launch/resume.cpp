#include "launch/resume.h"

#include <algorithm>
#include <system_error>

#include "launch/model_content.h"
#include "plan/plan_file.h"
#include "plan/resume_check.h"

namespace mantissa {

namespace fs = std::filesystem;

Result<CheckpointInfo> find_resume_checkpoint(const std::string& text, const fs::path& runs) {
    std::error_code failed;
    fs::path place = text;
    const bool is_name = text.find('/') == std::string::npos;
    if (is_name && !fs::exists(place, failed)) place = runs / text;
    place = fs::absolute(place, failed).lexically_normal();
    if (!place.has_filename()) place = place.parent_path();
    if (is_name && !fs::exists(place, failed))
        return Error{ErrorCode::InputOutput, "there is no run \"" + text.substr(0, 200) + "\" in " + runs.string(),
                     "`mantissa runs list` shows what is there"};
    return find_checkpoint(place);
}

std::vector<std::string> passed_over_notes(const CheckpointInfo& found) {
    std::vector<std::string> notes;
    for (const std::string& why : found.passed_over)
        notes.push_back(why + "; " + found.path.filename().string() + " is the newest whole one");
    return notes;
}

Result<SourcedPlan> plan_of_checkpoint(const CheckpointInfo& checkpoint) {
    if (checkpoint.is_of_a_run()) return read_plan_file(checkpoint.plan());
    return Error{ErrorCode::BadPlan,
                 "the checkpoint " + checkpoint.path.string() +
                     " has no plan.json: a program of its own has saved it, not a run",
                 "go on in that program, with load_state()"};
}

Result<std::optional<CheckpointInfo>> settle_resume(JobKind kind, SourcedPlan& plan, const fs::path& runs) {
    std::string& from = plan.plan.checkpoint.resume_from;
    if (from.empty()) return std::optional<CheckpointInfo>();
    if (kind == JobKind::Comparison)
        return Error{ErrorCode::BadPlan,
                     "checkpoint.resume_from is " + from +
                         ", but a comparison is fair only when all its runs begin with the same weights at step 0",
                     "go on with one run: mantissa train --resume-from RUN --mixed-precision MODE"};
    auto checkpoint = find_resume_checkpoint(from, runs);
    if (!checkpoint) return checkpoint.error();
    const auto saved = plan_of_checkpoint(*checkpoint);
    if (!saved) return saved.error();
    auto notes = check_resume(saved->plan, checkpoint->step, plan.plan);
    if (!notes) return notes.error();
    if (auto same = require_same_model(checkpoint->run(), plan.plan.model); !same) return same.error();
    plan.plan = with_schedule_of(saved->plan, plan.plan);
    for (std::string& note : passed_over_notes(*checkpoint)) notes->push_back(std::move(note));
    for (std::string& note : *notes) {
        const bool is_told = std::find(plan.notes.begin(), plan.notes.end(), note) != plan.notes.end();
        if (!is_told) plan.notes.push_back(std::move(note));
    }
    from = checkpoint->path.string();
    return std::optional<CheckpointInfo>(std::move(*checkpoint));
}

}  // namespace mantissa
