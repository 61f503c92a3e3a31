#include "base/paths.h"

#include <cstdlib>
#include <system_error>

namespace mantissa {
namespace fs = std::filesystem;
namespace {

fs::path from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? fs::path(value) : fs::path();
}

}  // namespace

fs::path home_folder() {
    const fs::path home = from_environment("HOME");
    return home.empty() ? fs::temp_directory_path() : home;
}

fs::path runs_folder(const fs::path& argument) {
    if (!argument.empty()) return fs::absolute(argument).lexically_normal();
    if (const fs::path named = from_environment("MANTISSA_RUNS_DIR"); !named.empty()) return fs::absolute(named).lexically_normal();
    const fs::path data = from_environment("XDG_DATA_HOME");
    return (data.empty() ? home_folder() / ".local" / "share" : data) / "mantissa" / "runs";
}

fs::path program_folder() {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

fs::path resources_folder() {
    if (const fs::path named = from_environment("MANTISSA_RESOURCES"); !named.empty()) return named;
    const fs::path installed = program_folder().parent_path() / "share" / "mantissa";
    std::error_code ignored;
    if (fs::is_directory(installed / "presets", ignored)) return installed;
    return MANTISSA_SOURCE_RESOURCES;
}

}  // namespace mantissa
