#pragma once
// The two loops that are compared. Both give the CPU time of the training thread for every step but the first, and the
// loss of the first step, which must be equal to the bit: it shows that they do the same.
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa::bench {

struct Timing {
    std::vector<std::int64_t> step_ns;
    double first_loss = 0;
    double last_loss = 0;
};

/// The product's own loop, with its recording on, in a run folder below `runs`.
Result<Timing> time_product(const RunPlan& plan, const std::filesystem::path& runs);

/// A loop as one writes it by hand: torch's modules and AdamW, autocast, in fp16 scale, unscale and update, and one read that
/// says whether the step is finite. Neither norm nor statistics nor recording.
Result<Timing> time_bare(const RunPlan& plan);

[[nodiscard]] std::int64_t thread_cpu_ns();

}  // namespace mantissa::bench
