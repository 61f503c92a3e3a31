#pragma once
// Who of several ranks drew the others along, told by its name and its last step from what all of them said of themselves in the run
// folder (record/rank_life.h): for processes that aren't our children (scope join), and for anyone who reads the folder later.
#include <cstdint>
#include <string>
#include <vector>

#include "record/rank_life.h"
#include "record/run_folder.h"

namespace mantissa {

/// "rank 1 vanished at step 41: …"; empty when all are alive and well. `own`: the rank that asks, which is not the one.
[[nodiscard]] std::string told_culprit(const std::vector<RankLife>& lives, std::int64_t own, std::int64_t now_ns);

/// The sentence for a run that lost a rank: waits a moment for the kernel to let go of a dead process's lock, which may be later than
/// the connection that broke. `said`: what the failed call said, the sentence when nobody can be named.
[[nodiscard]] std::string who_was_lost(const RunFolder& folder, std::int64_t own, const std::string& said);

}  // namespace mantissa
