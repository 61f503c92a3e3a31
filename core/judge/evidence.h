#pragma once
// All that a verdict may rest on, as plain values read from run folders.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/comparison_record.h"
#include "record/reports.h"
#include "record/run_reader.h"
#include "record/run_summary.h"

namespace mantissa {

/// The few settings of plan.json that verdicts speak of. Read tolerantly: a plan of an older version still
/// answers.
struct PlanFacts {
    std::string batch_norm_on_skip;  // "restore" "keep"
    std::optional<double> learning_rate, loss_scale_initial, loss_scale_floor;
    std::string on_nonfinite;
    std::string mode_source;  // "flag --mixed_precision"; empty when the plan doesn't say
};

/// rows.tensor_stats holds the records of outputs without histograms and, of a control beside an fp16 run, those of its last recorded
/// gradients with them: a long run with a record of every step stays quick to judge.
struct RunEvidence {
    RunSummary summary;
    RunRows rows;
    std::optional<TrialReport> trial;
    PlanFacts plan;
    std::string plan_json, environment_json;  // as found; empty when not there
};

struct ComparisonEvidence {
    std::vector<RunEvidence> runs;  // in the order of modes
    std::vector<RunEvidence> repetitions, rounding;  // replicas of the control; never taken for modes
    std::vector<Precision> modes;   // asked for; a mode that was refused has no run
    std::vector<TrialReport> trials;
    std::string order = "turns";
};

[[nodiscard]] PlanFacts plan_facts(const std::string& plan_json);
Result<RunEvidence> load_run_evidence(const std::filesystem::path& run_folder);
/// Runs whose folder can't be read are left out (their summary would be empty); a comparison without a
/// readable run is an error.
Result<ComparisonEvidence> load_comparison_evidence(const ComparisonRecord& record);

}  // namespace mantissa
