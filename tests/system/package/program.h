#pragma once
// Starts a program of the package with a clean environment, and keeps what it said.
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace mantissa::package_test {

inline const std::filesystem::path package = PACKAGE_FOLDER;

struct Said {
    int code = -1;
    std::string text;  // standard output and error
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> all;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) all.push_back(line);
        return all;
    }
};

/// `variables` as NAME=value. Instruction sets are those of the golden traces: bits depend on them.
inline Said run(const std::filesystem::path& program, const std::string& arguments, const std::string& variables = "",
                const std::string& errors = "2>&1") {
    const std::string command = "env -i HOME=/nonexistent PATH=/usr/bin:/bin OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE "
                                "ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_CBWR=AVX2 " +
                                variables + " '" + program.string() + "' " + arguments + " " + errors;
    Said said;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return said;
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) said.text.append(buffer, got);
    const int status = ::pclose(pipe);
    said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return said;
}

}  // namespace mantissa::package_test
