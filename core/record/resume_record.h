#pragma once
// What the record of a run that goes on says about its beginning: the checkpoint, both modes, and what became of the loss scale
// (rule 10).
#include "base/precision.h"
#include "record/checkpoint_info.h"
#include "record/run_recorder.h"

namespace mantissa {

void record_resume(RunRecorder& recorder, const CheckpointInfo& from, Precision mode);

}  // namespace mantissa
