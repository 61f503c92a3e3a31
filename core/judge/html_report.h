#pragma once
// One self-contained HTML file about a run or a comparison: no script, nothing from the network, light and
// dark.
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace mantissa {

/// `folder` is a comparison folder (holds comparison.json) or a run folder. Returns the absolute path of what
/// was written. An empty `output` means report.html in that folder.
Result<std::filesystem::path> write_html_report(const std::filesystem::path& folder,
                                                std::string_view language,
                                                const std::filesystem::path& output = {});

}  // namespace mantissa
