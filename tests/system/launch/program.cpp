#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "launch/child_process.h"
#include "launch/run_lookup.h"
#include "tests/support/processes.h"

namespace mantissa::test {

namespace {
std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}
}  // namespace

void ProgramTest::SetUp() {
    std::string name = (fs::temp_directory_path() / "mantissa-system-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    m_folder = name;
    ::setenv("MANTISSA_PROGRAM", REAL_MANTISSA, 1);
    ::setenv("MANTISSA_ENGINE", REAL_ENGINE, 1);
    ::setenv("MANTISSA_RESOURCES", MANTISSA_RESOURCES_DIR, 1);
    fs::create_directory(m_folder / "runtime");
    ::setenv("XDG_RUNTIME_DIR", (m_folder / "runtime").c_str(), 1);
}

void ProgramTest::TearDown() {
    // What a failed test left running belongs to this test's folder alone.
    for (const pid_t pid : processes_with(m_folder.string())) ::kill(pid, SIGTERM);
    (void)within(std::chrono::seconds(10), [this] { return processes_with(m_folder.string()).empty(); });
    if (m_program > 0) ::waitpid(m_program, nullptr, WNOHANG);
    std::error_code ignored;
    fs::remove_all(m_folder, ignored);
}

void ProgramTest::start(std::vector<std::string> words) {
    words.insert(words.end(), {"--runs-dir", runs().string()});
    const std::string command = std::string(REAL_MANTISSA) + " \"$@\" > " + (m_folder / "out").string() +
                                " 2> " + (m_folder / "err").string();
    SpawnRequest request;
    request.program = "/bin/sh";
    request.arguments = {"-c", "exec " + command, "mantissa"};
    request.arguments.insert(request.arguments.end(), words.begin(), words.end());
    const auto pid = spawn(request);
    ASSERT_TRUE(pid) << describe(pid.error());
    m_program = *pid;
}

int ProgramTest::wait() {
    int status = 0;
    if (::waitpid(m_program, &status, 0) != m_program) return -1;
    m_program = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string ProgramTest::output() const {
    return content(m_folder / "out");
}
std::string ProgramTest::errors() const {
    return content(m_folder / "err");
}

fs::path ProgramTest::comparison() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(runs() / "comparisons", ignored)) return entry.path();
    return {};
}

fs::path ProgramTest::run_of(const std::string& mode) const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(runs(), ignored)) {
        const std::string name = entry.path().filename();
        if (name.size() > mode.size() && name.ends_with("-" + mode)) return entry.path();
    }
    return {};
}

RunRows ProgramTest::rows(const fs::path& run) {
    auto reader = RunReader::open(run);
    if (!reader) return {};
    auto all = (*reader)->read_new();
    return all ? std::move(*all) : RunRows{};
}

pid_t ProgramTest::worker_of(const fs::path& run) {
    const auto found = processes_with(std::string("worker\0", 7) + run.string() + '\0');
    return found.empty() ? -1 : found.front();
}

bool ProgramTest::within(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return condition();
}

}  // namespace mantissa::test
