#pragma once
#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace mantissa::cli {

/// Everything that another person needs to look at one step: plan, environment, recording, and the step's incident, replay and states, with
/// a README. The new folder is a run that `mantissa replay` takes. Errors: Usage (the folder is there), InputOutput.
Result<void> write_bundle(const std::filesystem::path& run, std::int64_t step, const std::filesystem::path& folder);

}  // namespace mantissa::cli
