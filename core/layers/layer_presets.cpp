#include "layers/layer_presets.h"

#include <algorithm>
#include <system_error>

#include "base/paths.h"
#include "layers/layer_file.h"

namespace mantissa::layers {
namespace fs = std::filesystem;

Result<std::vector<LayerPreset>> list_layer_presets(const fs::path& folder) {
    const fs::path where = folder.empty() ? resources_folder() / "models" : folder;
    std::vector<LayerPreset> presets;
    std::error_code failed;
    for (fs::directory_iterator entry(where, failed), end; !failed && entry != end; entry.increment(failed)) {
        if (entry->path().extension() != ".json") continue;
        const auto list = read_layer_list(entry->path());
        if (!list) return list.error();
        presets.push_back({entry->path().stem().string(), list->about, entry->path()});
    }
    if (failed)
        return Error{ErrorCode::InputOutput, "the folder of layer lists " + where.string() + " can't be read: " + failed.message(),
                     "MANTISSA_RESOURCES names the folder with the program's resources"};
    std::sort(presets.begin(), presets.end(), [](const LayerPreset& a, const LayerPreset& b) { return a.id < b.id; });
    return presets;
}

fs::path layer_preset_file(const std::string& id) {
    if (id.empty() || id.find_first_of("./\\") != std::string::npos) return {};
    const fs::path file = resources_folder() / "models" / (id + ".json");
    std::error_code ignored;
    return fs::is_regular_file(file, ignored) ? file : fs::path();
}

}  // namespace mantissa::layers
