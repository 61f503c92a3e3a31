#pragma once
// RunPlan as JSON: complete when written, exact when read. Errors name the path of the field, its value and
// what is allowed; text that isn't JSON names line and byte.
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

inline constexpr int plan_version = 1;
inline constexpr std::uint64_t plan_file_limit_bytes = 1ull << 20;

nlohmann::json to_json(const RunPlan& plan);  // {"mantissa_plan": 1, "name": …, "model": {…}, …}

/// JSON text with line and byte in the error; a key that appears twice in one object is an error too.
Result<nlohmann::json> parse_json_text(std::string_view text);

/// One setting as it was written: full path of a leaf ("model.name") and its value, already checked.
struct PlanSetting {
    std::string path;
    std::string value_json;
};

/// The settings of a plan object ("mantissa_plan", if there, must be 1), in the order of the table.
Result<std::vector<PlanSetting>> read_settings(const nlohmann::json& plan);

struct ReadPlan {
    RunPlan plan;
    std::set<std::string> set_paths;  // what the text itself set
};
/// A bare plan object on top of `base`.
Result<ReadPlan> read_plan_json(std::string_view text, const RunPlan& base = {});

/// What `compat = accelerate` switches. Fields named in `set_paths` must agree with it.
Result<void> apply_compat(RunPlan& plan, const std::set<std::string>& set_paths);

}  // namespace mantissa
