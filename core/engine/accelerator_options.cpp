#include "engine/accelerator_options.h"

namespace mantissa {

AcceleratorOptions resolved(AcceleratorOptions options) {
    if (options.compat == Compat::Accelerate) {
        options.on_nonfinite = OnNonfinite::Mark;
        options.batch_norm_on_skip = BatchNormOnSkip::Keep;
        options.short_window = ShortWindow::Upstream;
        options.sync_batch_norm = false;
        options.loss_scale.floor = 0;
    }
    return options;
}

AcceleratorOptions accelerator_options(const RunPlan& plan) {
    AcceleratorOptions options;
    options.mixed_precision = plan.mixed_precision;
    options.allow_emulated = plan.allow_emulated;
    options.device = plan.device;
    options.gradient_accumulation_steps = plan.training.gradient_accumulation_steps;
    options.split_batches = plan.training.split_batches;
    options.even_batches = plan.training.even_batches;
    options.loss_scale = plan.loss_scale;
    options.on_nonfinite = plan.on_nonfinite;
    options.batch_norm_on_skip = plan.batch_norm_on_skip;
    options.short_window = plan.short_window;
    options.sync_batch_norm = plan.launch.sync_batch_norm;
    options.compat = plan.compat;
    return resolved(options);
}

}  // namespace mantissa
