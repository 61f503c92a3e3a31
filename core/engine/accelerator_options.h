#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "plan/run_plan.h"

namespace mantissa {

struct AcceleratorOptions {
    std::optional<Precision> mixed_precision = {};  // unset: ACCELERATE_MIXED_PRECISION, else no
    std::string device = {};                        // "" = environment, else auto; auto cpu cuda cuda:N
    std::optional<std::int64_t> gradient_accumulation_steps = {};  // unset: environment, else 1
    LossScalePlan loss_scale = {};
    bool loss_scale_enabled = true;  // false: fp16 without a scaler
    OnNonfinite on_nonfinite = OnNonfinite::Stop;
    BatchNormOnSkip batch_norm_on_skip = BatchNormOnSkip::Restore;
    ShortWindow short_window = ShortWindow::RightSized;
    bool sync_with_dataloader = true;         // the last batch of a pass ends its window
    bool step_scheduler_with_optimizer = true;
    bool autocast_cache = true;
    Compat compat = Compat::None;  // Accelerate: mark, keep, upstream, no floor, no check after the division
};

/// What `compat` stands for, spelled out.
[[nodiscard]] AcceleratorOptions resolved(AcceleratorOptions options);
/// The settings of a plan that an Accelerator takes.
[[nodiscard]] AcceleratorOptions accelerator_options(const RunPlan& plan);

}  // namespace mantissa
