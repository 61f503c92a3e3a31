#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mantissa::cli {

/// What happens when all runs of a job have ended: judged, verdicts written (comparison.json, or
/// verdicts.json of a single run), report.html made. Called by the supervisor, and for scope thread by the
/// worker thread.
Result<void> finish_job(const std::filesystem::path& job_folder, const std::string& language);

}  // namespace mantissa::cli
