#pragma once
// TorchScript files are programs: they are loaded only when somebody has said of this very content that it is trusted. The list lies beside
// the runs folder, a line for each content: its SHA-256 and the file's name at that time.
#include <filesystem>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

/// Remembers the content of this file. InputOutput when it can't be read or the list can't be written.
Result<void> trust_file(const std::filesystem::path& file);

/// BadPlan, with what to do, for a plan whose model file isn't trusted; nothing for a plan without one, or with a layer
/// list, which is no program.
Result<void> require_trusted_model(const RunPlan& plan);

}  // namespace mantissa
