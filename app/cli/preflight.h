#pragma once
// Support first, numbers second (design rule 5): asked before any folder is made.
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa::cli {

struct Preflight {
    std::string device;                    // settled: "cpu", "cuda:0"
    std::vector<PrecisionChoice> choices;  // in the order of the modes
};

/// Error UnsupportedPrecision or UnsupportedDevice with the reason when one of the modes can't run.
Result<Preflight> check_support(const RunPlan& plan, const std::vector<Precision>& modes);
/// "device cpu · requested bf16 · effective bf16 (emulated: …)", one per mode: the first log lines.
[[nodiscard]] std::vector<std::string> first_lines(const Preflight& preflight);

}  // namespace mantissa::cli
