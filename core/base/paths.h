#pragma once
// Where things live. Programs lie in <prefix>/bin, the engine module in <prefix>/lib, resources in <prefix>/share/mantissa
// when installed, in the source tree's resources/ when run from a build.
#include <filesystem>

namespace mantissa {

/// `--runs-dir` (argument, may be empty) > MANTISSA_RUNS_DIR > $XDG_DATA_HOME/mantissa/runs > ~/.local/share/mantissa/runs.
[[nodiscard]] std::filesystem::path runs_folder(const std::filesystem::path& argument = {});
/// MANTISSA_RESOURCES > <prefix>/share/mantissa > the source tree of the build.
[[nodiscard]] std::filesystem::path resources_folder();
[[nodiscard]] std::filesystem::path program_folder();  // of the running executable
[[nodiscard]] std::filesystem::path home_folder();

}  // namespace mantissa
