#pragma once
// What each process of a run with several ranks records: the main one the run itself (run.db), every other one its own view of it.
#include <cstdint>
#include <filesystem>
#include <string>

namespace mantissa {

[[nodiscard]] inline std::filesystem::path rank_database(const std::filesystem::path& run_folder, std::int64_t rank) {
    return run_folder / (rank == 0 ? std::string("run.db") : "rank-" + std::to_string(rank) + ".db");
}
[[nodiscard]] inline std::filesystem::path rank_log(const std::filesystem::path& run_folder, std::int64_t rank) {
    return run_folder / (rank == 0 ? std::string("worker.log") : "rank-" + std::to_string(rank) + ".log");
}
/// What it says of itself while it lives (record/rank_life.h).
[[nodiscard]] inline std::filesystem::path rank_life(const std::filesystem::path& run_folder, std::int64_t rank) {
    return run_folder / (rank == 0 ? std::string("worker.life") : "rank-" + std::to_string(rank) + ".life");
}

}  // namespace mantissa
