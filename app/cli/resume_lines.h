#pragma once
// What a run that goes on from a checkpoint says about it, in the words of the catalogue.
#include <filesystem>
#include <string>
#include <vector>

#include "record/run_summary.h"

namespace mantissa::cli {

/// Where it goes on from and what becomes of the loss scale; nothing for a run that begins at step 0.
[[nodiscard]] std::vector<std::string> resume_lines(const RunSummary& run, const std::string& language);
/// The same of a run folder; nothing for a comparison.
[[nodiscard]] std::vector<std::string> resume_lines(const std::filesystem::path& job_folder, const std::string& language);

}  // namespace mantissa::cli
