#include "record/resume_record.h"

#include "base/numbers.h"
#include "plan/resume_rule.h"
#include "record/meta_keys.h"

namespace mantissa {

void record_resume(RunRecorder& recorder, const CheckpointInfo& from, Precision mode) {
    recorder.meta(meta::resumed_checkpoint, from.path.string());
    recorder.meta(meta::resumed_run, from.run().string());
    recorder.meta(meta::resumed_step, std::to_string(from.step));
    recorder.meta(meta::resumed_applied, std::to_string(from.applied_steps));
    recorder.meta(meta::resumed_mode, to_string(from.mode));
    recorder.meta(meta::resumed_scale, to_string(resumed_scale(from.mode, mode)));
    if (from.loss_scale) recorder.meta(meta::resumed_saved_scale, to_text(*from.loss_scale));
}

}  // namespace mantissa
