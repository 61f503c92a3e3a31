#pragma once
// What several processes found when they did a step again together, told as one answer.
#include <vector>

#include "host/engine_api.h"
#include "run/ranks.h"

namespace mantissa {

/// `all`: by rank, not empty. The birth is that of the lowest rank that has one of its own, and names it; else the bad value is that of the
/// lowest rank that met one. One that came in with the sum of all gradients counts last. A watched value is the largest on any.
[[nodiscard]] ReplayAnswer joined(std::vector<ReplayAnswer> all);

/// Collective: the answer of all on each.
[[nodiscard]] Result<ReplayAnswer> answer_of_all(const Ranks& ranks, const ReplayAnswer& own);

}  // namespace mantissa
