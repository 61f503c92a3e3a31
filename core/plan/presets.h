#pragma once
// Presets: plans that come with the program (resources/presets/*.json), in the sourced form with a "preset"
// object beside it:
// {"mantissa_plan": 1, "preset": {"title", "summary", "compare_steps" (number or null)}, "plan": {…}}.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"

namespace mantissa {

struct Preset {
    std::string id, title, summary;
    std::optional<std::int64_t>
        compare_steps;  // length of a comparison; none: at most 300, a shorter plan keeps its length
    std::string text;   // the file
};

/// The presets in the order that people meet them. `folder` empty = resources_folder()/presets.
Result<std::vector<Preset>> list_presets(const std::filesystem::path& folder = {});
/// An unknown name is an error with the nearest names and the list.
Result<Preset> load_preset(const std::string& id, const std::filesystem::path& folder = {});

Result<PlanLayer> preset_layer(const Preset& preset);
[[nodiscard]] CompareDefaults compare_defaults(const std::optional<Preset>& preset);

}  // namespace mantissa
