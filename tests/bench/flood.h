#pragma once
#include <cstdint>

namespace mantissa::bench {

/// Prints what a run of NaN costs over the same run without watching, and the size of its recording.
int run_flood(std::int64_t steps);

}  // namespace mantissa::bench
