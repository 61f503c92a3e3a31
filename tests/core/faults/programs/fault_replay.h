#pragma once
// Runs a fault program, does the step of its fault again as it was and under the changes of the grid, and gives the same report that
// a replay of a recorded run gives. Each run in a process of its own, because a mode is fixed for the life of a process.
#include "fault_program.h"
#include "fault_verdict.h"

namespace mantissa {

[[nodiscard]] Diagnosis diagnose(const FaultProgram& program);

/// The whole program in `no` and in fp16, as a comparison records it.
[[nodiscard]] ComparisonEvidence compare(const FaultProgram& program);

}  // namespace mantissa
