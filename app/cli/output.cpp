#include "output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

namespace mantissa::cli {

int fail(const Error& error) {
    std::fprintf(stderr, "mantissa: %s\n", error.message.c_str());
    if (!error.hint.empty()) std::fprintf(stderr, "          %s\n", error.hint.c_str());
    return exit_code(error.code);
}

void print(std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
}

std::string state_words(RunState state) { return state == RunState::StoppedNonfinite ? "stopped: non-finite" : to_string(state); }

void print_json(const nlohmann::json& value) {
    // A path on this machine need not be UTF-8; the result is JSON all the same.
    print(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void open_missing_descriptors() {
    // A file opened later would take the free number: its lock or its bytes would go astray.
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
        if (::fcntl(descriptor, F_GETFD) < 0)
            ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

int finish_output(int result) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return result;
    if (errno == EPIPE) return result;  // `| head -1` has what it wanted
    const int code =
        fail({ErrorCode::InputOutput,
              std::string("the result can't be written to standard output: ") + std::strerror(errno), ""});
    return result == 0 ? code : result;
}

bool is_terminal_error() {
    const char* kind = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

bool is_terminal_output() {
    return ::isatty(STDOUT_FILENO) == 1;
}

bool has_utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value != nullptr && *value != '\0')
            return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr;
    }
    return false;
}

}  // namespace mantissa::cli
