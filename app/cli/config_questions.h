#pragma once
// The questions of `mantissa config`.
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"

namespace mantissa::cli {

/// Asks on standard error and reads standard input; an empty line takes the present value. A wrong answer is asked again; an input
/// that ends before the last answer is an Error, and nothing is written. Returns keys of Accelerate's file with their values.
Result<std::vector<std::pair<std::string, std::string>>> ask_for_configuration(const PlanLayer& present);

}  // namespace mantissa::cli
