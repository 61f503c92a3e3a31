#include "launch/job.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/clock.h"
#include "base/log.h"
#include "layers/layer_file.h"
#include "launch/model_content.h"
#include "launch/resume.h"
#include "launch/run_files.h"
#include "launch/run_lookup.h"
#include "launch/thread_run.h"
#include "launch/trusted_files.h"
#include "plan/plan_file.h"
#include "record/comparison_record.h"
#include "record/meta_keys.h"
#include "record/resume_record.h"
#include "record/run_recorder.h"
#include "samples/samples.h"

namespace mantissa {

namespace fs = std::filesystem;

namespace {

const char* to_text(ComparisonOrder order) {
    switch (order) {
        case ComparisonOrder::Turns:
            return "turns";
        case ComparisonOrder::OneByOne:
            return "one-by-one";
        case ComparisonOrder::AtOnce:
            return "at-once";
    }
    return "";
}

Result<void> check_scope(JobKind kind, const RunPlan& plan) {
    switch (plan.launch.scope) {
        case LaunchScope::Process:
        case LaunchScope::Ranks:
            return {};
        case LaunchScope::Thread: {
            if (kind == JobKind::SingleRun) return {};
            return Error{ErrorCode::BadPlan, thread_scope_refusal(kind, plan.mixed_precision),
                         "use launch.scope process"};
        }
        case LaunchScope::Join:
            if (kind == JobKind::SingleRun) return {};
            break;
    }
    return Error{ErrorCode::BadPlan, "a launch of several processes trains in one mode, a comparison needs a fresh launch for each",
                 "start `mantissa train` by the launcher once for each mode, or compare with launch.scope ranks"};
}

/// The control comes first whatever the order of the plan: turns with equal step counts begin with it.
std::vector<Precision> modes_of(JobKind kind, const RunPlan& plan) {
    if (kind == JobKind::SingleRun) return {plan.mixed_precision};
    std::vector<Precision> modes{Precision::No};
    for (const Precision mode : plan.modes) {
        if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
    }
    return modes;
}

/// What a run list can show before the engine has said a word.
Result<void> record_beginning(const RunFolder& folder, const RunPlan& plan, const std::string& comparison_id,
                              const std::optional<CheckpointInfo>& resumed) {
    auto recorder = RunRecorder::open(folder.path);
    if (!recorder) return recorder.error();
    auto& record = **recorder;
    record.meta(meta::mode, to_string(plan.mixed_precision));
    record.meta(meta::requested, to_string(plan.mixed_precision));
    record.meta(meta::name, plan.name);
    record.meta(meta::model, plan.model.file.empty() ? plan.model.name : plan.model.file);
    record.meta(meta::dataset, plan.dataset.file.empty() ? plan.dataset.name : plan.dataset.file);
    if (!plan.model.file.empty()) {
        const auto content = model_content(plan.model);
        if (!content) return content.error();
        record.meta(model_sha256_key, *content);
    }
    if (!comparison_id.empty()) record.meta(meta::comparison_id, comparison_id);
    if (resumed) record_resume(record, *resumed, plan.mixed_precision);
    record.state(RunState::Queued);
    return record.flush();
}

/// Makes the folders; on destruction removes what was made, unless the job was kept.
class JobFolders {
  public:
    ~JobFolders() {
        std::error_code ignored;
        for (const auto& folder : m_made) fs::remove_all(folder, ignored);
    }
    JobFolders() = default;
    JobFolders(const JobFolders&) = delete;
    JobFolders& operator=(const JobFolders&) = delete;
    void keep() { m_made.clear(); }

    Result<void> add_run(PreparedJob& job, SourcedPlan plan, JobRun run,
                         const std::optional<CheckpointInfo>& resumed, const fs::path& runs) {
        const Precision mode = run.mode;
        plan.plan.mixed_precision = mode;
        if (run.replica.is_replica()) plan.plan.name += " " + run.replica.label();
        auto folder = create_run_folder(runs, plan.plan.name, mode);
        if (!folder) return folder.error();
        m_made.push_back(folder->path);
        // Locked before anything is written: a queued run is never taken for a lost one.
        auto claim = RunClaim::take(*folder);
        if (!claim) return claim.error();
        if (auto written = write_plan_file(folder->plan(), plan); !written) return written;
        if (auto reserved = launch_files::make_reserve(*folder); !reserved) return reserved;
        if (run.replica.is_replica()) {
            if (auto written = write_replica(folder->path, run.replica); !written) return written;
        }
        if (auto recorded = record_beginning(*folder, plan.plan, job.comparison_id, resumed); !recorded)
            return recorded;
        job.claims.push_back(std::move(*claim));
        run.folder = *folder;
        (run.replica.is_replica() ? job.replicas : job.runs).push_back(std::move(run));
        return {};
    }

    Result<void> add_comparison(PreparedJob& job, const SourcedPlan& plan, const fs::path& runs) {
        auto folder = create_unique_folder(
            runs / "comparisons", file_time_stamp(now_ns()) + "-" + folder_name_part(plan.plan.name));
        if (!folder) return folder.error();
        m_made.push_back(*folder);
        job.folder = *folder;
        job.comparison_id = folder->filename().string();
        return {};
    }

  private:
    std::vector<fs::path> m_made;
};

Result<void> write_comparison_start(const PreparedJob& job, const SourcedPlan& plan) {
    ComparisonRecord record;
    record.id = job.comparison_id;
    record.name = plan.plan.name;
    record.started_ns = now_ns();
    record.state = "trial";
    record.order = to_text(job.order);
    record.plan_json = to_json(plan).dump();
    for (const auto& run : job.runs) {
        record.modes.push_back(run.mode);
        record.run_dirs.push_back(run.folder.path);
    }
    if (auto written = write_comparison(job.folder, record); !written || job.replicas.empty()) return written;
    std::vector<ReplicaRun> replicas;
    for (const auto& run : job.replicas) replicas.push_back({run.replica, run.folder.path});
    return write_replica_runs(job.folder, replicas);
}

}  // namespace

std::vector<JobRun> PreparedJob::all_runs() const {
    std::vector<JobRun> all = runs;
    all.insert(all.end(), replicas.begin(), replicas.end());
    return all;
}

Result<PreparedJob> prepare_job(JobKind kind, const SourcedPlan& given, const fs::path& runs_folder) {
    SourcedPlan plan = given;
    if (auto scope = check_scope(kind, plan.plan); !scope) return scope.error();
    std::error_code failed;
    // A run is done again, or goes on, from any folder.
    for (std::string* file : {&plan.plan.model.file, &plan.plan.model.weights, &plan.plan.dataset.file})
        if (!file->empty()) *file = fs::absolute(*file, failed).lexically_normal().string();
    if (auto trusted = require_trusted_model(plan.plan); !trusted) return trusted.error();
    if (auto readable = check_data_file(plan.plan.dataset); !readable) return readable.error();
    if (const std::string& weights = plan.plan.model.weights; !weights.empty() && !fs::exists(weights, failed))
        return Error{ErrorCode::InputOutput, "model.weights is \"" + weights + "\", which is not there", "name a .safetensors file, or a folder that holds model.safetensors"};
    if (auto fits = layers::check_layer_list(plan.plan); !fits) return fits.error();
    const fs::path runs = fs::absolute(runs_folder, failed);
    if (failed)
        return Error{ErrorCode::InputOutput,
                     "the runs folder " + runs_folder.string() + ": " + failed.message(), ""};
    const auto resumed = settle_resume(kind, plan, runs);
    if (!resumed) return resumed.error();
    PreparedJob job;
    job.kind = kind;
    job.order = plan.plan.launch.order;
    JobFolders folders;
    if (kind == JobKind::Comparison) {
        if (auto made = folders.add_comparison(job, plan, runs); !made) return made.error();
    }
    for (const Precision mode : modes_of(kind, plan.plan)) {
        if (auto made = folders.add_run(job, plan, {mode, {}, {}}, *resumed, runs); !made) return made.error();
    }
    if (kind == JobKind::Comparison) {
        const RepetitionPlan& more = plan.plan.repetitions;
        for (const Replica& replica : planned_replicas(more.control, more.rounding)) {
            if (auto made = folders.add_run(job, plan, {Precision::No, {}, replica}, *resumed, runs); !made)
                return made.error();
        }
    }
    if (kind == JobKind::SingleRun)
        job.folder = job.runs.front().folder.path;
    else if (auto written = write_comparison_start(job, plan); !written)
        return written.error();
    folders.keep();
    return job;
}

Result<PreparedJob> read_job(const fs::path& job_folder) {
    PreparedJob job;
    std::error_code failed;
    job.folder = fs::absolute(job_folder, failed).lexically_normal();
    if (!job.folder.has_filename()) job.folder = job.folder.parent_path();
    if (!fs::exists(job.folder / "comparison.json", failed)) {
        const RunFolder folder{job.folder};
        const auto plan = launch_files::read_run_plan(folder.plan());
        if (!plan) return plan.error();
        job.runs.push_back({plan->mixed_precision, folder, {}});
        return job;
    }
    const auto record = read_comparison(job.folder);
    if (!record) return record.error();
    job.kind = JobKind::Comparison;
    job.comparison_id = record->id;
    for (const auto order : {ComparisonOrder::OneByOne, ComparisonOrder::AtOnce}) {
        if (record->order == to_text(order)) job.order = order;
    }
    if (record->modes.size() != record->run_dirs.size() || record->modes.empty()) {
        return Error{ErrorCode::InputOutput,
                     (job.folder / "comparison.json").string() + ": modes and run_dirs don't match", ""};
    }
    for (std::size_t i = 0; i < record->modes.size(); ++i) {
        fs::path folder = record->run_dirs[i];
        // A runs folder that was moved or copied: the runs lie beside `comparisons`.
        if (!fs::exists(folder, failed)) folder = job.folder.parent_path().parent_path() / folder.filename();
        job.runs.push_back({record->modes[i], RunFolder{folder}, {}});
    }
    const auto replicas = read_replica_runs(job.folder);
    if (!replicas) return replicas.error();
    for (const ReplicaRun& run : *replicas) job.replicas.push_back({Precision::No, RunFolder{run.run_dir}, run.replica});
    return job;
}

}  // namespace mantissa
