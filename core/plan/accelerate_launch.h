#pragma once
// What Accelerate's file says of a launch beyond a plan: how many machines there are, which one this is, and where process 0 listens.
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "plan/plan_sources.h"

namespace mantissa {

struct AcceleratePlaces {
    /// num_machines, machine_rank, main_process_ip, main_process_port, gpu_ids: those that the file sets, as they stand there.
    std::map<std::string, std::string> values;
    std::string file;
};

/// accelerate_config_layer for a launcher, which has a use for these keys: they are in `places`, neither refused nor noted.
Result<PlanLayer> accelerate_launch_layer(const std::optional<std::filesystem::path>& explicit_file, const EnvironmentLookup& environment,
                                          AcceleratePlaces& places);

}  // namespace mantissa
