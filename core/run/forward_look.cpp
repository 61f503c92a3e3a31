#include "run/forward_look.h"

#include "run/meter_watch.h"

namespace mantissa {

ForwardLook look_forward(RunParts& parts, const Batch& batch) {
    const torch::NoGradGuard no_grad;
    const BuffersBack buffers(parts.bare_model());
    ForwardLook look;
    MeterWatch watch(look.meter);
    const WatchScope scope(watch);
    const AutocastScope autocast = parts.accelerator.autocast();
    look.output = parts.model(batch.features);
    return look;
}

}  // namespace mantissa
