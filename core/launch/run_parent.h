#pragma once
// A run that another one led to: its control, a fix that a replay found, a "what if". Kept in run.db of the child.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "launch/job.h"

namespace mantissa {

struct RunParent {
    std::filesystem::path run;  // its folder when the child was made
    std::string purpose;        // control fix what_if
    std::int64_t step = 0;      // of fix and what_if: where the change begins
    std::string change;         // of fix and what_if: VariantReport::change()
};

/// For a job that is prepared and not started.
Result<void> record_parent(const PreparedJob& job, const RunParent& parent);
[[nodiscard]] std::optional<RunParent> read_parent(const std::filesystem::path& run);

/// The run in mode `no` beside `run`: of its comparison, else a control that was run for it; itself when it is in mode `no`. Empty: none.
[[nodiscard]] std::filesystem::path find_control(const std::filesystem::path& run);

/// The same plan in mode `no`, as a child of `run`, beside it in the runs folder.
Result<PreparedJob> prepare_control_run(const std::filesystem::path& run);

}  // namespace mantissa
