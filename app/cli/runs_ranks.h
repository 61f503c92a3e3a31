#pragma once
// What `runs show` says of a run of several processes: what each of them had, and whether all decided alike.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace mantissa::cli {

/// Nothing for a run of one process.
void print_ranks(const std::filesystem::path& run);
/// Null for a run of one process.
[[nodiscard]] nlohmann::json ranks_json(const std::filesystem::path& run);

}  // namespace mantissa::cli
