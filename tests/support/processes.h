#pragma once
// Finding processes that a program under test has started.
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/files.h"

namespace mantissa::test {

/// Pids whose command line holds the text (arguments are separated by '\0'). A process that vanishes meanwhile isn't among them.
inline std::vector<pid_t> processes_with(const std::string& text) {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const Result<std::string> line = read_file(entry.path() / "cmdline");
        if (line && line->find(text) != std::string::npos) found.push_back(std::stoi(name));
    }
    return found;
}

}  // namespace mantissa::test
