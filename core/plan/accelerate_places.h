#pragma once
#include <filesystem>

#include "plan/plan_sources.h"

namespace mantissa {

/// The default_config.yaml or .json that is there, in accelerate_config_folder(); empty: none.
[[nodiscard]] std::filesystem::path default_accelerate_config_file(const EnvironmentLookup& environment);

}  // namespace mantissa
