#pragma once
// Plan files: a bare plan as people write it, and the sourced form {"mantissa_plan": 1, "plan": {…},
// "sources": {…}} that a run folder keeps as plan.json. Both are read by the same function.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan_sources.h"

namespace mantissa {

nlohmann::json to_json(const SourcedPlan& sourced);

/// Either form; errors begin with `detail` (a file's name). A bare plan's origins name it as their source.
Result<SourcedPlan> read_sourced_plan(std::string_view text, const std::string& detail);
Result<SourcedPlan> read_plan_file(const std::filesystem::path& file);
Result<void> write_plan_file(const std::filesystem::path& file, const SourcedPlan& sourced);

/// The plan object inside either form of file. "preset" (see plan/presets.h) is allowed beside it.
Result<nlohmann::json> plan_object_of(std::string_view text);

}  // namespace mantissa
