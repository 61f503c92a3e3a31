#pragma once
// The parts of a run that repeats the control (record/replica.h): another sample order, or weights that are each moved by one last bit.
#include "record/replica.h"
#include "run/run_parts.h"

namespace mantissa {

Result<std::unique_ptr<RunParts>> build_run(const RunPlan& plan, const DeviceChoice& choice, const Replica& replica);

}  // namespace mantissa
