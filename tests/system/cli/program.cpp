#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mantissa::system_test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// What a program needs of the machine, and nothing that a developer has set for themselves.
std::vector<std::string> environment_of(const Home& home) {
    std::map<std::string, std::string> all{{"HOME", home.path().string()},
                                           {"MANTISSA_RUNS_DIR", home.runs().string()},
                                           {"LANG", "C.UTF-8"},
                                           {"TERM", "dumb"}};
    for (const char* name : {"PATH", "LD_LIBRARY_PATH", "MANTISSA_ENGINE", "MANTISSA_RESOURCES",
                             "ASAN_OPTIONS", "OMP_WAIT_POLICY"})
        if (const char* value = std::getenv(name)) all[name] = value;
    for (const auto& [name, value] : home.variables) all[name] = value;
    std::vector<std::string> list;
    for (const auto& [name, value] : all) list.push_back(name + "=" + value);
    return list;
}

[[noreturn]] void become_program(const Home& home, const std::vector<std::string>& arguments,
                                 const fs::path& out, const fs::path& err) {
    const int in = ::open(home.input.c_str(), O_RDONLY);
    ::dup2(in, STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    std::vector<std::string> texts{home.program.string()};
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    auto variables = environment_of(home);
    std::vector<char*> argument_list, variable_list;
    for (auto& text : texts) argument_list.push_back(text.data());
    for (auto& text : variables) variable_list.push_back(text.data());
    argument_list.push_back(nullptr);
    variable_list.push_back(nullptr);
    ::execve(home.program.c_str(), argument_list.data(), variable_list.data());
    ::_exit(127);
}

}  // namespace

nlohmann::json Outcome::json() const {
    return nlohmann::json::parse(out, nullptr, false);
}

Home::Home() {
    std::string name = (fs::temp_directory_path() / "mantissa-cli-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    m_path = name;
}

Home::~Home() {
    // A failed test must not leave a run behind that trains on: its control file is there as long as its
    // supervisor.
    const auto is_alive = [](const fs::path& folder) { return fs::exists(folder / "control"); };
    for (const fs::path& folder : run_folders()) {
        if (!is_alive(folder)) continue;
        // Nobody listens any more where a program was killed by the test itself.
        program = MANTISSA_PROGRAM_FILE;
        if (run({"runs", "control", folder.string(), "stop"}).code != 0) continue;
        if (!eventually(std::chrono::seconds(20), [&] { return !is_alive(folder); }))
            std::fprintf(stderr, "a run is still alive in %s\n", folder.c_str());
    }
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
}

fs::path Home::write(const std::string& name, const std::string& text) const {
    fs::create_directories((m_path / name).parent_path());
    std::ofstream(m_path / name, std::ios::binary) << text;
    return m_path / name;
}

Outcome Home::run(const std::vector<std::string>& arguments, std::chrono::seconds limit) const {
    return Started(*this, arguments).wait(limit);
}

std::vector<fs::path> Home::run_folders() const {
    std::vector<fs::path> folders;
    std::error_code error;
    for (fs::directory_iterator entry(runs(), error), end; !error && entry != end; entry.increment(error))
        if (entry->path().filename() != "comparisons") folders.push_back(entry->path());
    return folders;
}

Started::Started(const Home& home, const std::vector<std::string>& arguments) {
    static int count = 0;
    const std::string number = std::to_string(++count);
    m_out = home.path() / ("stdout-" + number);
    m_err = home.path() / ("stderr-" + number);
    m_pid = ::fork();
    if (m_pid == 0) become_program(home, arguments, m_out, m_err);
}

Started::~Started() {
    if (m_pid <= 0) return;
    ::kill(m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
}

void Started::send(int signal) const {
    ::kill(m_pid, signal);
}

Outcome Started::wait(std::chrono::seconds limit) {
    Outcome outcome;
    int status = 0;
    const bool ended = eventually(limit, [&] { return ::waitpid(m_pid, &status, WNOHANG) == m_pid; });
    if (!ended) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, &status, 0);
    } else {
        outcome.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    m_pid = -1;
    outcome.out = content(m_out);
    outcome.err = content(m_err);
    return outcome;
}

long recorded_steps(const Home& home) {
    long steps = 0;
    const auto runs = home.run({"runs", "list", "--json"}).json();
    if (!runs.is_object()) return 0;
    for (const auto& run : runs["runs"]) steps += run.value("steps", 0L);
    return steps;
}

}  // namespace mantissa::system_test
