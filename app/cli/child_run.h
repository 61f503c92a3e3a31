#pragma once
#include <string>

#include "base/result.h"
#include "launch/job.h"

namespace mantissa::cli {

/// Runs a prepared job to its end with progress on standard error, as `train` does; its exit code.
Result<int> run_child(PreparedJob job, bool quiet, const std::string& language);

}  // namespace mantissa::cli
