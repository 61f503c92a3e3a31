#pragma once
// A run of a comparison that repeats the control: RUN/replica.json beside its plan, which is the control's own. A repetition visits the
// samples in another order; a rounding replica starts from weights that are each moved by one last bit.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa {

enum class ReplicaRole { None, Repetition, Rounding };
[[nodiscard]] const char* to_string(ReplicaRole role);  // "" "repetition" "rounding"

struct Replica {
    ReplicaRole role = ReplicaRole::None;
    std::int64_t number = 0;  // from 1

    [[nodiscard]] bool is_replica() const { return role != ReplicaRole::None; }
    [[nodiscard]] std::string label() const;  // "repetition 1"
    /// Seed of the sample order where the plan's seed is `seed`; of all others the seed itself.
    [[nodiscard]] std::uint64_t order_seed(std::uint64_t seed) const;
    bool operator==(const Replica&) const = default;
};

/// As comparison.json lists it, under "replicas": beside run_dirs, which are those of the modes.
struct ReplicaRun {
    Replica replica;
    std::filesystem::path run_dir;
    bool operator==(const ReplicaRun&) const = default;
};

/// All that a comparison runs beside its modes: repetitions first.
[[nodiscard]] std::vector<Replica> planned_replicas(std::int64_t repetitions, std::int64_t rounding);

Result<void> write_replica(const std::filesystem::path& run_folder, const Replica& replica);
/// No replica when the folder holds no replica.json; an error for a damaged one.
Result<Replica> read_replica(const std::filesystem::path& run_folder);

/// Into a comparison.json that is there; write_comparison() keeps them.
Result<void> write_replica_runs(const std::filesystem::path& comparison_folder, const std::vector<ReplicaRun>& runs);
/// None for a comparison without replicas. A runs folder that was moved as a whole still finds them.
Result<std::vector<ReplicaRun>> read_replica_runs(const std::filesystem::path& comparison_folder);

}  // namespace mantissa
