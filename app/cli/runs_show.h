#pragma once
#include <filesystem>
#include <string>

namespace mantissa::cli {

/// `mantissa runs show RUN`: result, verdicts, and where the values of the plan came from.
int show_run(const std::filesystem::path& folder, const std::string& language, bool json);

}  // namespace mantissa::cli
