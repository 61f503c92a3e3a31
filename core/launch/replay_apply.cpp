#include "launch/replay_apply.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "base/work_folder.h"
#include "launch/incident_states.h"
#include "launch/replay_process.h"
#include "launch/replay_variants.h"
#include "launch/run_parent.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr double shortest_limit_seconds = 120, times_the_record = 20;
constexpr auto tick = std::chrono::milliseconds(30);

/// Goes forward as the run did, from the nearest state before.
Result<fs::path> make_state(const ReplaySubject& subject, std::int64_t at, const std::function<bool()>& is_cancelled) {
    const auto work = WorkFolder::make("state");
    if (!work) return work.error();
    ReplayRequest request;
    request.run = subject.run;
    request.plan = subject.plan.plan;
    request.step = at;
    request.keep_state = work->path() / ("state_" + std::to_string(at));
    request.variant.id = "as_was";
    request.variant.mode = subject.mode();
    const CheckpointInfo* start = subject.state_at_or_before(at);
    if (start != nullptr) request.state = start->path;
    const double seconds = subject.recorded_seconds(start == nullptr ? 0 : start->step, at);
    const auto limit = std::chrono::seconds(static_cast<std::int64_t>(shortest_limit_seconds + times_the_record * seconds));
    auto process = ReplayProcess::start(request, {work->path(), subject.folder() / "processes.log"}, limit);
    if (!process) return process.error();
    while (true) {
        if (is_cancelled && is_cancelled()) return Error{ErrorCode::Interrupted, "interrupted before the start", ""};
        const auto answer = process->poll();
        if (!answer) {
            std::this_thread::sleep_for(tick);
            continue;
        }
        if (!*answer) return answer->error();
        if ((*answer)->reproduced == Reproduced::No)
            return Error{ErrorCode::InputOutput,
                         "the way to step " + std::to_string(at) + " is not the run's: " + (*answer)->reproduced_reason,
                         "apply it on the machine of the run"};
        return keep_state_in(subject.folder(), request.keep_state);
    }
}

Result<const VariantReport*> chosen(const ReplayReport& report, const std::string& id) {
    const auto found = std::find_if(report.variants.begin(), report.variants.end(), [&](const VariantReport& one) { return one.id == id; });
    if (found == report.variants.end()) return Error{ErrorCode::Usage, "the replay has no variant \"" + id.substr(0, 60) + "\"", ""};
    if (found->state != "done") return Error{ErrorCode::Usage, id + " is " + found->state + (found->reason.empty() ? "" : ": " + found->reason), ""};
    const bool is_asked_for = found->id == "custom" && found->this_step_finite.value_or(false);
    if (!found->holds() && !is_asked_for)
        return Error{ErrorCode::Usage,
                     found->change() + " does not hold: step " + std::to_string(report.step) + " is " + found->this_step_text() +
                         (found->later_bad_at ? ", bad again after " + std::to_string(*found->later_bad_at) + " steps" : ""),
                     "choose a variant that holds"};
    return &*found;
}

}  // namespace

Result<void> check_applicable(const VariantReport& variant) {
    if (variant.id == "as_was") return Error{ErrorCode::Usage, "as_was changes nothing: a run that goes on with it meets the same step", ""};
    if (variant.id == "previous_batch")
        return Error{ErrorCode::Usage, "another batch at one step is no setting of a run", "look at the samples of this batch, and mend the data"};
    if (variant.id == "scale_1")
        return Error{ErrorCode::Usage, "a run that goes on takes up the saved loss scale, so scale 1 can't be applied to it",
                     "start again with --set loss_scale.initial=1, or apply bf16"};
    return {};
}

Result<PreparedJob> prepare_applied_run(const ReplayReport& report, const std::string& variant_id, const std::function<bool()>& is_cancelled) {
    const auto variant = chosen(report, variant_id);
    if (!variant) return variant.error();
    if (const auto fits = check_applicable(**variant); !fits) return fits.error();
    const auto subject = find_replay_subject(report.run_dir, report.step);
    if (!subject) return subject.error();
    const std::int64_t from = (*variant)->from_step;
    auto plan = changed_plan(*subject, **variant, "replay of step " + std::to_string(report.step));
    if (!plan) return plan.error();
    fs::path state;
    if (const CheckpointInfo* kept = subject->state_at(from)) {
        state = kept->path;
    } else if (from > 0) {
        auto made = make_state(*subject, from, is_cancelled);
        if (!made) return made.error();
        state = std::move(*made);
    }
    plan->plan.checkpoint.resume_from = state.string();
    plan->plan.launch.scope = plan->plan.launch.processes > 1 ? LaunchScope::Ranks : LaunchScope::Process;
    auto job = prepare_job(JobKind::SingleRun, *plan, subject->run.parent_path());
    if (!job) return job.error();
    const std::string purpose = (*variant)->id == "custom" ? "what_if" : "fix";
    if (auto recorded = record_parent(*job, {subject->run, purpose, from, (*variant)->change()}); !recorded) return recorded.error();
    return job;
}

}  // namespace mantissa
