#pragma once
// A recording as event files: every column of the steps as a curve of its own, in double precision and with NaN and ±Inf as they
// are, micro-batches and evaluations too. A comparison becomes one sub-folder for each mode.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/comparison_record.h"

namespace mantissa {

Result<void> export_tensorboard(const std::filesystem::path& run_folder, const std::filesystem::path& folder);
/// Modes without a recording.
Result<std::vector<std::string>> export_tensorboard(const ComparisonRecord& comparison, const std::filesystem::path& folder);

}  // namespace mantissa
