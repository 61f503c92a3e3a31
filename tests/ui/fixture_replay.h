#pragma once
// One bad step as the engine and the replays write it: gated-overflow, seed 7, fp16: gate.mul made +Inf from 308 × 231 at step 65.
#include <filesystem>

#include "record/replay_report.h"

namespace mantissa::fixture {

inline constexpr std::int64_t badStep = 65;

[[nodiscard]] BirthReport gateBirth();
[[nodiscard]] IncidentReport gateIncident();
/// The whole grid; `done`: so many lines have an answer, the next one is running.
[[nodiscard]] ReplayReport gateReplay(const std::filesystem::path& run, std::size_t done = 7);
/// Both files as they stand when all is done. Throws std::runtime_error when something can't be written.
void writeIncident(const std::filesystem::path& run, const IncidentReport& report = gateIncident());
void writeReplay(const std::filesystem::path& run, const ReplayReport& report);

}  // namespace mantissa::fixture
