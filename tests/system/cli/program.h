#pragma once
// Starts the real `mantissa` in a folder and an environment of its own.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mantissa::system_test {

struct Outcome {
    int code = -1;  // exit code; 128 + signal when a signal ended it; -1 it had to be killed
    std::string out, err;
    [[nodiscard]] nlohmann::json json()
        const;  // of standard output; discarded when it isn't exactly one JSON value
};

/// A temporary home: no configuration, no runs; removed at the end.
class Home {
  public:
    Home();
    ~Home();
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;

    [[nodiscard]] std::filesystem::path path() const { return m_path; }
    [[nodiscard]] std::filesystem::path runs() const { return m_path / "runs"; }
    std::filesystem::path write(const std::string& name, const std::string& content) const;
    std::map<std::string, std::string> variables;  // added to the environment of every start
    std::filesystem::path input = "/dev/null";      // standard input of every start
    std::filesystem::path program = MANTISSA_PROGRAM_FILE;  // a shell, for lines that a person pastes

    Outcome run(const std::vector<std::string>& arguments,
                std::chrono::seconds limit = std::chrono::seconds(240)) const;
    /// Run folders below runs().
    [[nodiscard]] std::vector<std::filesystem::path> run_folders() const;

  private:
    std::filesystem::path m_path;
};

/// A program that goes on while the test looks at it.
class Started {
  public:
    Started(const Home& home, const std::vector<std::string>& arguments);
    ~Started();
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;
    [[nodiscard]] pid_t pid() const { return m_pid; }
    void send(int signal) const;
    Outcome wait(std::chrono::seconds limit);

  private:
    std::filesystem::path m_out, m_err;
    pid_t m_pid = -1;
};

/// Looks every 20 ms until `condition` holds; false when the time is over.
template <typename Condition>
bool eventually(std::chrono::seconds limit, Condition condition);

/// Steps that a run has recorded so far, over all run folders of the home.
[[nodiscard]] long recorded_steps(const Home& home);

}  // namespace mantissa::system_test

#include <thread>

template <typename Condition>
bool mantissa::system_test::eventually(std::chrono::seconds limit, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}
