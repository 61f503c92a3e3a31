#pragma once
// Everything a run consists of, built from a plan: data, model, loss, and what the Accelerator prepared of
// them.
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "data/dataset.h"
#include "data/split.h"
#include "devices/probe.h"
#include "engine/accelerator.h"
#include "models/losses.h"
#include "models/model.h"
#include "plan/rank_place.h"
#include "plan/run_plan.h"
#include "run/ranks.h"

namespace mantissa {

/// SHA-256 of what must be equal for a fair comparison (design §10).
struct RunHashes {
    std::string initial_state, data, sample_order, plan;
};

struct RunParts {
    DeviceChoice choice;
    Dataset dataset;
    Split split;
    LossFunction loss;
    Accelerator accelerator;
    PreparedModel<std::shared_ptr<Model>> model;
    PreparedOptimizer optimizer;
    PreparedScheduler scheduler;
    PreparedLoader loader;
    std::int64_t planned_steps = 0;
    RunHashes hashes;
    std::shared_ptr<Ranks> ranks = nullptr;  // empty: this process trains alone
    bool looks_later = false;                // HostLooks::Later
    std::optional<LoadedModel> weights = std::nullopt;  // what the plan's weights had for the model, where it names some

    [[nodiscard]] bool is_main() const { return !ranks || ranks->is_main(); }
    [[nodiscard]] Model& bare_model() { return *model.unwrap(); }
};

/// Device and precision of `plan.mixed_precision`, before anything is built. `place`: of one of several processes; on GPUs each has
/// its own.
Result<DeviceChoice> choose_run_device(const RunPlan& plan, const RankPlace* place = nullptr);

/// Later where it can be: on a GPU, without a loss scale, with the fused kernels of one process, without clipping, when a bad step ends
/// the run or is let through.
[[nodiscard]] HostLooks host_looks_of(const RunPlan& plan, DeviceFacts::Kind device, bool is_alone);

/// SHA-256 over names, dtypes, shapes and bytes of parameters and buffers.
[[nodiscard]] std::string state_hash(Model& model);

/// SHA-256 over the indices of the samples that train.
[[nodiscard]] std::string training_split_hash(const RunParts& parts);

/// Builds data, model (weights from the seed), optimizer and scheduler, in this order, on the device that was
/// chosen. Sets threads and determinism of the process.
Result<std::unique_ptr<RunParts>> build_run(const RunPlan& plan, const DeviceChoice& choice);

/// `ranks`: one process's part of a run of several. The plan's batch size is that of each process (with split_batches that of all), its steps are those of all together.
Result<std::unique_ptr<RunParts>> build_run(const RunPlan& plan, const DeviceChoice& choice, std::shared_ptr<Ranks> ranks);

}  // namespace mantissa
