#pragma once
// The control socket of a run that trains in this very process (scopes thread and join): what a supervisor is for the other scopes. A
// thread of its own listens, so that `mantissa runs control` and windows reach the run by its folder. Internal to core/launch.
#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "host/run_control.h"
#include "launch/control_server.h"
#include "launch/hung_run.h"
#include "launch/run_watch.h"

namespace mantissa {

class ThreadControl {
  public:
    /// `owner`: the window that the run trains in, which controls it by itself; 0: a program without one.
    static Result<std::unique_ptr<ThreadControl>> open(const RunFolder& folder, const std::string& mode, RunControl& control, pid_t owner);
    ~ThreadControl();  // takes the socket's name out of the folder
    ThreadControl(const ThreadControl&) = delete;
    ThreadControl& operator=(const ThreadControl&) = delete;

    /// "abort" came: the program is to end now.
    [[nodiscard]] bool is_aborted() const { return m_is_aborted; }
    void publish_end(int exit_code);

  private:
    ThreadControl(const RunFolder& folder, std::string mode, RunControl& control, pid_t owner)
        : m_folder(folder), m_mode(std::move(mode)), m_control(control), m_owner(owner), m_watch(folder) {}
    Result<std::string> command(const std::string& name, const std::string& run);
    void serve(const std::stop_token& stop);

    RunFolder m_folder;
    std::string m_mode;
    RunControl& m_control;
    pid_t m_owner;
    RunWatch m_watch;  // the serving thread's
    std::atomic<bool> m_is_aborted{false};
    std::atomic<int> m_exit_code{-1};  // set: to be told
    std::optional<ControlServer> m_server;
    std::jthread m_thread;
};

}  // namespace mantissa
