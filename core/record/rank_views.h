#pragma once
// A run of several ranks as each of them recorded it: what a rank had, and whether all took the same decision at every step.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa {

/// Of a rank beside the main one, whose record is the run's own.
struct RankView {
    std::int64_t rank = 0;
    std::int64_t steps = 0, skipped = 0;
    std::int64_t samples = 0;            // that it had, over all steps
    std::optional<double> final_loss;    // of its own samples
    std::int64_t incidents = 0;
    std::optional<std::int64_t> first_other_decision;  // step at which skip, loss scale or updates differ from the run's
    std::string problem;                 // its record can't be read: a sentence
};

struct RankViews {
    std::int64_t compared_steps = 0;  // that all of them recorded
    std::int64_t skipped = 0;         // of these
    std::vector<RankView> ranks;      // by rank, without the main one; empty: a run of one process
    /// The lowest step at which a rank decided otherwise; empty: none.
    [[nodiscard]] std::optional<std::int64_t> first_other_decision() const;
};

/// Never waits for a run that is still going: steps that not all have recorded yet aren't compared.
Result<RankViews> read_rank_views(const std::filesystem::path& run_folder);

/// Ranks that recorded something beside the main one, lowest first.
[[nodiscard]] std::vector<std::int64_t> recorded_ranks(const std::filesystem::path& run_folder);

}  // namespace mantissa
