#pragma once
// Layer lists that come with the program: resources/models/*.json.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa::layers {

struct LayerPreset {
    std::string id, about;
    std::filesystem::path file;
};

/// By name. `folder` empty = resources_folder()/models.
Result<std::vector<LayerPreset>> list_layer_presets(const std::filesystem::path& folder = {});
/// Its file, or empty: no list of that name comes with the program.
[[nodiscard]] std::filesystem::path layer_preset_file(const std::string& id);

}  // namespace mantissa::layers
