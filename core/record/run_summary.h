#pragma once
// One run as a result: the object of `train --json` and of `compare --json`.runs (design §5), made from a run folder alone.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "plan/resume_rule.h"
#include "record/linear_layers.h"
#include "record/rows.h"

namespace mantissa {

/// Where a run goes on from: both modes, and what became of the loss scale (rule 10).
struct ResumedFrom {
    std::string checkpoint, run;  // its folder, and that of the run that wrote it
    std::int64_t step = 0;   // first step of the run that goes on
    std::int64_t applied_steps = 0;
    Precision mode = Precision::No;  // saved under
    ResumedScale scale = ResumedScale::None;
    std::optional<double> saved_scale;
};

struct RunSummary {
    std::string name, model, dataset;
    std::string comparison_id;
    std::int64_t started_ns = 0, ended_ns = 0;
    Precision mode = Precision::No;  // as planned; `requested` and `effective` as the engine found them
    Precision requested = Precision::No, effective = Precision::No;
    Support support = Support::Native;
    std::string support_reason;
    std::string device, device_name;
    RunState state = RunState::Queued;
    std::string state_reason;
    std::filesystem::path run_dir;
    std::int64_t planned_steps = 0;
    // Both count from step 0 of the plan, also where the recording begins later (resumed).
    std::int64_t steps = 0, applied_steps = 0;
    std::optional<ResumedFrom> resumed;
    std::int64_t skipped_probing = 0, skipped_fault = 0;
    std::int64_t nonfinite_loss_steps = 0;
    std::optional<std::int64_t> first_nonfinite_step;  // loss or (outside the scaler) gradient
    std::optional<double> first_loss, final_loss, final_scale;
    std::string metric_name;               // "accuracy" ...; empty without validation data
    std::optional<double> metric, best_metric;  // last and best of the validation split, fp32 evaluation first
    std::int64_t validation_samples = 0;
    std::optional<double> step_ms_median;
    std::int64_t memory_peak_bytes = 0;
    bool poisoned = false;  // weights_poisoned incident
    std::vector<LinearLayer> linear_layers;  // of a run in fp8, known after its first step
    std::string checkpoint, checkpoint_error;  // folder of the last one saved; why the last attempt to save failed
};

/// Never fails on a run that is still going or was lost: what is there is summed up.
Result<RunSummary> summarize_run(const std::filesystem::path& run_folder);
nlohmann::json to_json(const RunSummary& summary);

}  // namespace mantissa
