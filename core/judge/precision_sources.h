#pragma once
#include <string>
#include <vector>

#include "judge/texts.h"

namespace mantissa {

/// Where mode and device of a plan.json came from, and what they overruled: one sentence each. Read tolerantly; without sources there
/// is nothing to say.
[[nodiscard]] std::vector<std::string> precision_source_lines(const std::string& plan_json, const TextCatalogue& texts);

}  // namespace mantissa
