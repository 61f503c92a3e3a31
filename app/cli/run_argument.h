#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/work_folder.h"

namespace CLI {
class App;
}

namespace mantissa::cli {

/// `--lang`: a language of the catalogue, or nothing for that of the locale; another one is refused.
void add_language(CLI::App& verb, std::string& language);

/// The folder that RUN means: a path, the name of a run or comparison below `runs`, a beginning of one that
/// fits only once, or "last" for the newest. Errors name the nearest.
Result<std::filesystem::path> find_run(const std::string& argument, const std::filesystem::path& runs);

/// A run that is looked at only.
struct NamedRun {
    std::filesystem::path folder;
    WorkFolder unpacked;  // of a bundle; goes with this
};
/// As find_run, or the file of a bundle (launch/bundle.h).
Result<NamedRun> find_run_or_bundle(const std::string& argument, const std::filesystem::path& runs);

}  // namespace mantissa::cli
