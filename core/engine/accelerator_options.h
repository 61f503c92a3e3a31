#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/run_plan.h"
#include "track/tracker.h"

namespace mantissa {

class ProcessGroup;

/// Where save_state() without a folder writes, and how much it keeps.
struct ProjectOptions {
    std::filesystem::path directory = {};          // checkpoints/ lies below it
    bool automatic_checkpoint_naming = false;      // checkpoint_0, checkpoint_1, …
    std::optional<std::int64_t> total_limit = {};  // the oldest go; at least the last and the one before stay
};

/// A name (mantissa, tensorboard, json_lines, all), or an object of ours or of a class of one's own.
using TrackerChoice = std::variant<std::string, std::shared_ptr<Tracker>>;

/// When the host learns what a step found on its device. AsNeeded: on a CPU at each figure, on a GPU once a step. OncePerStep: one read of
/// the device on a CPU too. Later: some steps on, without a wait; a bad step and those after it are held back on the device until then. For
/// modes without a loss scale, one fused optimizer, one process, no clipping, on_nonfinite stop or mark.
enum class HostLooks { AsNeeded, OncePerStep, Later };

struct AcceleratorOptions {
    std::optional<Precision> mixed_precision = {};  // unset: ACCELERATE_MIXED_PRECISION, else no
    bool allow_emulated = false;                    // fp8 where the device has no fp8 units: slow, for its numbers only
    std::string device = {};                        // "" = environment, else auto; auto cpu cuda cuda:N
    std::optional<std::int64_t> gradient_accumulation_steps = {};  // unset: environment, else 1
    LossScalePlan loss_scale = {};
    bool loss_scale_enabled = true;  // false: fp16 without a scaler
    OnNonfinite on_nonfinite = OnNonfinite::Stop;
    BatchNormOnSkip batch_norm_on_skip = BatchNormOnSkip::Restore;
    ShortWindow short_window = ShortWindow::RightSized;
    bool sync_with_dataloader = true;         // the last batch of a pass ends its window
    bool step_scheduler_with_optimizer = true;
    bool split_batches = false;               // a loader's batch is divided among the processes; else each gets one
    bool even_batches = true;                 // ranks see equally many batches: the last ones wrap to the start
    bool sync_batch_norm = false;             // training statistics over the batches of all processes (SyncBatchNorm); else each its own
    bool device_placement = true;             // prepare() moves models and batches to the device
    bool autocast_cache = true;
    std::vector<std::string> fp32_islands = {};  // path, path.op, aten::op (engine/fp32_islands.h)
    bool keep_half_outputs = false;           // outputs of a prepared forward stay fp16/bf16 (upstream makes them fp32)
    std::shared_ptr<ProcessGroup> processes = {};  // empty: this process alone
    ProjectOptions project = {};
    std::vector<TrackerChoice> log_with = {};    // started by init_trackers()
    std::filesystem::path logging_dir = {};      // of trackers that write files; empty: project.directory
    HostLooks host_looks = HostLooks::AsNeeded;
    Compat compat = Compat::None;  // Accelerate: mark, keep, upstream, no floor, no check after the division
};

/// What `compat` stands for, spelled out.
[[nodiscard]] AcceleratorOptions resolved(AcceleratorOptions options);
/// The settings of a plan that an Accelerator takes.
[[nodiscard]] AcceleratorOptions accelerator_options(const RunPlan& plan);

}  // namespace mantissa
