#pragma once
// Starting and naming child processes. posix_spawn, so that a threaded window can use it too.
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mantissa {

struct SpawnRequest {
    std::filesystem::path program;
    std::vector<std::string> arguments;                            // without the program's own name
    std::vector<std::pair<std::string, std::string>> environment;  // on top of ours
    std::filesystem::path log_file;  // standard output and error, appended; empty = ours
    std::vector<int> inherited;      // descriptors that stay open, under the same number
    bool new_session = false;
};

/// Standard input is /dev/null; signals are unblocked and at their defaults. A program that isn't there is an
/// Error here.
Result<pid_t> spawn(const SpawnRequest& request);

/// What libgomp and MKL read when they are loaded: passive waiting (a spinning team starves its neighbours, a
/// window for one) and one thread count for all modes of a comparison.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> numeric_environment(std::int64_t threads);

/// "killed by SIGKILL", "ended with exit code 3", "ended normally".
[[nodiscard]] std::string describe_wait_status(int wait_status);
/// "SIGKILL"; "signal 77" if it has no name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace mantissa
