#pragma once
// What this machine brings to a run without a plan: its devices, and the settings of Accelerate's file and environment.
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "plan/accelerate_launch.h"
#include "plan/plan_sources.h"
#include "record/reports.h"

namespace mantissa::cli {

/// Asks the engine in a child process (engine_child.h).
Result<ProbeReport> probe_machine();
/// Accelerate's file (the named one, else the default one) and ACCELERATE_*, in ascending strength.
Result<std::vector<PlanLayer>> machine_layers(const std::optional<std::filesystem::path>& config_file);
/// The same for a launcher: what the file says of machines and places is in `places`.
Result<std::vector<PlanLayer>> machine_layers(const std::optional<std::filesystem::path>& config_file, AcceleratePlaces& places);

}  // namespace mantissa::cli
