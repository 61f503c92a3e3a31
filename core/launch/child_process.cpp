#include "launch/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern char** environ;

namespace mantissa {

namespace {

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view key = text.substr(0, text.find('='));
        const bool replaced =
            std::any_of(changes.begin(), changes.end(), [&](const auto& c) { return c.first == key; });
        if (!replaced) all.emplace_back(text);
    }
    for (const auto& [key, value] : changes) all.push_back(key + "=" + value);
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (auto& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// Owns the C structures of one posix_spawn.
class SpawnSetup {
  public:
    explicit SpawnSetup(const SpawnRequest& request) {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!request.log_file.empty()) {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, request.log_file.c_str(),
                                             O_WRONLY | O_CREAT | O_APPEND, 0644);
            posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
        }
        // Dup of a descriptor onto itself clears close-on-exec in the child alone.
        for (const int descriptor : request.inherited) {
            posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor);
        }
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        if (request.new_session) flags |= POSIX_SPAWN_SETSID;
        posix_spawnattr_setflags(&attributes, flags);
    }
    ~SpawnSetup() {
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

}  // namespace

Result<pid_t> spawn(const SpawnRequest& request) {
    std::vector<std::string> arguments{request.program.string()};
    arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
    std::vector<std::string> environment = merged_environment(request.environment);
    const std::vector<char*> argument_pointers = pointers(arguments);
    const std::vector<char*> environment_pointers = pointers(environment);
    const SpawnSetup setup(request);
    pid_t pid = -1;
    const int failed = posix_spawn(&pid, request.program.c_str(), &setup.actions, &setup.attributes,
                                   argument_pointers.data(), environment_pointers.data());
    if (failed != 0) {
        std::error_code ignored;
        const bool is_there = std::filesystem::exists(request.program, ignored);
        return Error{
            ErrorCode::InputOutput, "can't start " + request.program.string() + ": " + std::strerror(failed),
            is_there
                ? "can " + request.log_file.string() + " be written?"
                : "build or install the command line program `mantissa`, or name it in MANTISSA_PROGRAM"};
    }
    return pid;
}

std::vector<std::pair<std::string, std::string>> numeric_environment(std::int64_t threads) {
    const std::string count = std::to_string(threads);
    std::vector<std::pair<std::string, std::string>> changes{{"OMP_NUM_THREADS", count},
                                                             {"MKL_NUM_THREADS", count}};
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) changes.emplace_back("OMP_WAIT_POLICY", "PASSIVE");
    return changes;
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::string describe_wait_status(int wait_status) {
    if (WIFSIGNALED(wait_status)) return "killed by " + signal_name(WTERMSIG(wait_status));
    const int code = WEXITSTATUS(wait_status);
    return code == 0 ? "ended normally" : "ended with exit code " + std::to_string(code);
}

}  // namespace mantissa
