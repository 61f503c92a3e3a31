// mantissa-golden DIR…: repeats reference traces through our engine and counts what is equal.
//
// Exit codes: 0 all equal, 1 something differs, 2 a folder is not of the form, 3 this CPU can't repeat the bits, 6 input.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/paths.h"
#include "repeat.h"

namespace {

using namespace mantissa;
using namespace mantissa::golden;
namespace fs = std::filesystem;

constexpr const char* modes[] = {"no", "fp16", "bf16"};

int fail(const Error& error) {
    std::fprintf(stderr, "mantissa-golden: %s\n", describe(error).c_str());
    return exit_code(error.code);
}

// The child: one trace, so that each precision has a process of its own.
int repeat_one(const fs::path& folder, const std::string& mode) {
    const auto trace = read_trace(folder, mode);
    if (!trace) {
        return fail(trace.error());
    }
    const auto comparison = repeat(folder, *trace);
    if (!comparison) {
        Error error = comparison.error();
        error.message = (folder / ("trace-" + mode + ".json")).string() + ": " + error.message;
        return fail(error);
    }
    std::printf("%-24s %-5s", trace->task.c_str(), mode.c_str());
    for (const Count& count : comparison->counts) {
        if (count.all != 0) {
            std::printf("  %s %lld/%lld", count.kind, static_cast<long long>(count.equal),
                        static_cast<long long>(count.all));
        }
    }
    std::printf("  %s\n", comparison->is_equal() ? "equal" : "DIFFERENT");
    for (const Count& count : comparison->counts) {
        if (!count.first_difference.empty()) {
            std::printf("    first %s that differs: %s\n", count.kind, count.first_difference.c_str());
        }
    }
    return comparison->is_equal() ? 0 : 1;
}

// Bits depend on the CPU's instruction set and on threads; both are read when the libraries are loaded, hence a fresh process.
int run_child(const fs::path& folder, const std::string& mode) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        for (const auto& [name, value] : {std::pair{"ATEN_CPU_CAPABILITY", "avx2"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"},
                                          {"MKL_CBWR", "AVX2"}, {"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}}) {
            setenv(name, value, 1);
        }
        const std::string program = fs::read_symlink("/proc/self/exe").string();
        const std::string place = folder.string();
        execl(program.c_str(), program.c_str(), "--trace", place.c_str(), mode.c_str(), nullptr);
        _exit(126);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return fail({ErrorCode::Internal, "no process could be started for " + folder.string(), ""});
    }
    if (WIFSIGNALED(status)) {
        return fail({ErrorCode::WorkerLost, folder.string() + ", " + mode + ": its process was ended by signal " +
                                                std::to_string(WTERMSIG(status)), ""});
    }
    return WEXITSTATUS(status);
}

std::vector<std::string> modes_of(const fs::path& folder) {
    std::vector<std::string> found;
    for (const char* mode : modes) {
        if (fs::exists(folder / (std::string("trace-") + mode + ".json"))) {
            found.emplace_back(mode);
        }
    }
    return found;
}

// The folder itself, or the folders in it that hold traces.
Result<std::vector<fs::path>> trace_folders(const fs::path& folder) {
    std::error_code failed;
    if (!fs::is_directory(folder, failed)) {
        return Error{ErrorCode::InputOutput, "there is no folder " + folder.string(), ""};
    }
    if (!modes_of(folder).empty()) {
        return std::vector{folder};
    }
    std::vector<fs::path> found;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        if (entry->is_directory() && !modes_of(entry->path()).empty()) {
            found.push_back(entry->path());
        }
    }
    if (failed) {
        return Error{ErrorCode::InputOutput, folder.string() + " can't be read: " + failed.message(), ""};
    }
    if (found.empty()) {
        return Error{ErrorCode::BadPlan, folder.string() + " holds no trace-no.json, trace-fp16.json or trace-bf16.json, "
                                                           "neither itself nor in a folder of it", ""};
    }
    std::sort(found.begin(), found.end());
    return found;
}

// A trailing slash, "." or ".." would leave the task without a name.
fs::path with_a_name(const std::string& argument) {
    const auto tidy = [](const fs::path& path) { return (path / "").lexically_normal().parent_path(); };
    const fs::path name = tidy(argument).filename();
    const bool is_named = argument.empty() || !(name.empty() || name == "." || name == "..");
    return tidy(is_named ? fs::path(argument) : fs::absolute(argument));
}

int repeat_all(const std::vector<std::string>& arguments) {
    if (!__builtin_cpu_supports("avx2")) {
        std::fprintf(stderr, "mantissa-golden: this CPU has no AVX2, and the traces were made with it: the bits can't be repeated here\n");
        return 3;
    }
    std::vector<fs::path> folders;
    for (const auto& argument : arguments) {
        auto found = trace_folders(with_a_name(argument));
        if (!found) {
            return fail(found.error());
        }
        folders.insert(folders.end(), found->begin(), found->end());
    }
    int worst = 0;
    std::size_t traces = 0, equal = 0;
    for (const auto& folder : folders) {
        for (const auto& mode : modes_of(folder)) {
            const int status = run_child(folder, mode);
            worst = std::max(worst, status);
            ++traces;
            equal += status == 0 ? 1 : 0;
        }
    }
    std::printf("%zu of %zu traces equal in every value\n", equal, traces);
    return worst;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() == 3 && arguments[0] == "--trace") {
        return repeat_one(arguments[1], arguments[2]);
    }
    if (arguments.empty() || arguments[0].starts_with("-")) {
        std::fprintf(arguments.empty() || arguments[0] != "--help" ? stderr : stdout,
                     "usage: mantissa-golden DIR...\n"
                     "Repeats every trace (trace-no.json, trace-fp16.json, trace-bf16.json) of a folder, or of the folders in it,\n"
                     "through Mantissa's engine, and prints how many values of each kind are equal to the bit.\n");
        return arguments.empty() || arguments[0] != "--help" ? 2 : 0;
    }
    return repeat_all(arguments);
}
