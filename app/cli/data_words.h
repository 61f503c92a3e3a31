#pragma once
// What `datasets show` prints of a data file.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "samples/statistics.h"

namespace mantissa::cli {

void print_data(const DatasetPlan& plan, const Samples& samples, const SampleStatistics& statistics, std::int64_t shown);
[[nodiscard]] nlohmann::json data_json(const DatasetPlan& plan, const Samples& samples, const SampleStatistics& statistics);

}  // namespace mantissa::cli
