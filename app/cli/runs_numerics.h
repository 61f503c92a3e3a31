#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record/run_summary.h"

namespace mantissa::cli {

/// What `runs show` says of the numbers of these runs: alarms of each, and the forecast of the control.
void print_numerics(const std::vector<RunSummary>& runs, const std::string& language);
/// {"alarms": [{mode, step, rule, severity, tensor, value, threshold, action, text}], "forecast": {…} or null}
[[nodiscard]] nlohmann::json numerics_json(const std::vector<RunSummary>& runs, const std::string& language);

}  // namespace mantissa::cli
