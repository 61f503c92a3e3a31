// At a real terminal (a pty) a replay asks before it runs a control; there Ctrl-C is an answer too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "program.h"

namespace mantissa::system_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The program at a terminal of its own: what it shows, and keys.
class Terminal {
  public:
    Terminal(const Home& home, std::vector<std::string> arguments) {
        m_pid = ::forkpty(&m_screen, nullptr, nullptr, nullptr);
        if (m_pid != 0) return;
        ::setenv("HOME", home.path().c_str(), 1);
        ::setenv("MANTISSA_RUNS_DIR", home.runs().c_str(), 1);
        ::setenv("LANG", "C.UTF-8", 1);
        ::setenv("TERM", "xterm", 1);
        arguments.insert(arguments.begin(), MANTISSA_PROGRAM_FILE);
        std::vector<char*> words;
        for (std::string& one : arguments) words.push_back(one.data());
        words.push_back(nullptr);
        ::execv(MANTISSA_PROGRAM_FILE, words.data());
        ::_exit(127);
    }
    ~Terminal() {
        if (m_pid > 0) {
            ::kill(m_pid, SIGKILL);
            ::waitpid(m_pid, nullptr, 0);
        }
        ::close(m_screen);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(const std::string& keys) const { EXPECT_EQ(::write(m_screen, keys.data(), keys.size()), static_cast<ssize_t>(keys.size())); }
    bool shows(const std::string& words) {
        return eventually(std::chrono::seconds(60), [&] {
            read_more();
            return m_text.find(words) != std::string::npos;
        });
    }
    int exit_code() {
        int status = 0;
        const bool has_ended = eventually(std::chrono::seconds(120), [&] {
            read_more();
            return ::waitpid(m_pid, &status, WNOHANG) == m_pid;
        });
        if (!has_ended) return -1;
        m_pid = -1;
        read_more();
        return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    }
    [[nodiscard]] const std::string& text() const { return m_text; }

  private:
    void read_more() {
        pollfd one{m_screen, POLLIN, 0};
        std::array<char, 4096> bytes{};
        while (::poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0) {
            const ssize_t got = ::read(m_screen, bytes.data(), bytes.size());
            if (got <= 0) return;
            m_text.append(bytes.data(), static_cast<std::size_t>(got));
        }
    }

    int m_screen = -1;
    pid_t m_pid = -1;
    std::string m_text;
};

TEST(CliTerminal, AReplayAsksForTheControlAndTakesEveryAnswer) {
    const Home home;
    ASSERT_EQ(home.run({"train", "gated-overflow", "--cpu", "--mixed_precision", "fp16"}).code, 4);
    const std::string run = home.run_folders().front().filename().string();
    {
        Terminal terminal(home, {"replay", run, "--variants", "no", "--later", "2"});
        ASSERT_TRUE(terminal.shows("Run the control now? [y/N]")) << terminal.text();
        terminal.type("\x03");
        EXPECT_EQ(terminal.exit_code(), 130) << terminal.text();
        EXPECT_THAT(terminal.text(), AllOf(HasSubstr("interrupted before step"), Not(HasSubstr("is done again, from"))));
    }
    EXPECT_EQ(home.run_folders().size(), 1u);
    {
        Terminal terminal(home, {"replay", run, "--variants", "no", "--later", "2"});
        ASSERT_TRUE(terminal.shows("[y/N]")) << terminal.text();
        terminal.type("\x04");  // the end of the input: no
        EXPECT_EQ(terminal.exit_code(), 0) << terminal.text();
        EXPECT_THAT(terminal.text(), HasSubstr("--run-control runs it first."));
    }
    {
        Terminal terminal(home, {"replay", run, "--variants", "no", "--later", "2"});
        ASSERT_TRUE(terminal.shows("[y/N]")) << terminal.text();
        terminal.type("y\n");
        EXPECT_EQ(terminal.exit_code(), 0) << terminal.text();
        EXPECT_THAT(terminal.text(), AllOf(HasSubstr("control: recording to"), HasSubstr("The control is finite at this step")));
    }
    EXPECT_EQ(home.run_folders().size(), 2u);
    Terminal again(home, {"replay", run, "--variants", "no", "--later", "2"});
    EXPECT_EQ(again.exit_code(), 0) << again.text();
    EXPECT_THAT(again.text(), Not(HasSubstr("[y/N]"))) << "it is there now";
}

}  // namespace
}  // namespace mantissa::system_test
