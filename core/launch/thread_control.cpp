#include "launch/thread_control.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "record/signal_guard.h"

namespace mantissa {
namespace {

constexpr int tick_ms = 100;
constexpr std::int64_t publish_every_ns = 500'000'000;

}  // namespace

Result<std::unique_ptr<ThreadControl>> ThreadControl::open(const RunFolder& folder, const std::string& mode, RunControl& control, pid_t owner) {
    std::unique_ptr<ThreadControl> made(new ThreadControl(folder, mode, control, owner));
    ThreadControl& self = *made;
    auto server = ControlServer::open([&self](const auto& name, const auto& run) { return self.command(name, run); },
                                      [&self](std::string& phase) {
                                          phase = "running";
                                          self.m_watch.look();
                                          return std::vector<RunStatus>{{self.m_mode, self.m_folder.path.string(), self.m_watch.state,
                                                                         self.m_watch.reason, self.m_watch.steps, true}};
                                      },
                                      owner);
    if (!server) return server.error();
    self.m_server.emplace(std::move(*server));
    if (auto written = write_file_atomically(folder.socket_name(), self.m_server->path().string() + "\n"); !written) return written.error();
    self.m_thread = std::jthread([&self](const std::stop_token& stop) { self.serve(stop); });
    return made;
}

ThreadControl::~ThreadControl() {
    m_thread.request_stop();
    if (m_thread.joinable()) m_thread.join();
    std::error_code ignored;
    std::filesystem::remove(m_folder.socket_name(), ignored);
}

void ThreadControl::publish_end(int exit_code) {
    m_exit_code = exit_code;
    std::error_code ignored;
    std::filesystem::remove(m_folder.socket_name(), ignored);
}

Result<std::string> ThreadControl::command(const std::string& name, const std::string& run) {
    if (!run.empty() && run != "all" && run != m_mode) return Error{ErrorCode::Usage, "there is no run '" + run + "' in this job", ""};
    if (m_exit_code >= 0) return Error{ErrorCode::Usage, "the run " + m_mode + " has ended", ""};
    if (name == "abort" && m_owner != 0) {
        return Error{ErrorCode::Usage, "the run trains inside the window of process " + std::to_string(m_owner) + ", which would end with it",
                     "use stop, or end that window"};
    }
    if (name == "abort") {
        m_is_aborted = true;
        return m_mode + ": aborted";
    }
    const auto command = parse_control_command(name);
    if (!command) {
        return Error{ErrorCode::Usage, "unknown command '" + name + "'",
                     "use pause, resume, step, checkpoint, stop, interrupt, watch0, watch1, watch2, abort or status"};
    }
    m_control.post(*command);
    return m_mode + ": " + name;
}

void ThreadControl::serve(const std::stop_token& stop) {
    db::block_program_signals();
    std::int64_t published_ns = 0;
    while (!stop.stop_requested()) {
        std::vector<pollfd> events;
        m_server->add_to(events);
        ::poll(events.data(), events.size(), tick_ms);
        if (std::any_of(events.begin(), events.end(), [](const pollfd& e) { return e.revents != 0; })) m_server->serve();
        if (monotonic_ns() - published_ns < publish_every_ns) continue;
        published_ns = monotonic_ns();
        m_server->publish_status();
    }
    m_server->publish_status();
    if (m_exit_code >= 0) m_server->publish_end(m_exit_code);
}

}  // namespace mantissa
