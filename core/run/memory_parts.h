#pragma once
// What the memory of a run consists of, once, after its first update: bytes by part, and on a GPU what its allocator has taken.
#include "devices/memory_meter.h"
#include "record/run_recorder.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

void record_memory_parts(RunParts& parts, const MemoryMeter& memory, const StepOutcome& outcome, RunRecorder& recorder);

}  // namespace mantissa
