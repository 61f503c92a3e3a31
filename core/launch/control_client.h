#pragma once
// The other end of a job's socket, for the command line and the window (no Qt). The first controller holds the control; later ones only
// watch and are told so, with the process that has it; when the controller leaves, the oldest client that asked for control gets it. A
// shell's command is always done. Protocol: one JSON object per line (launch/control_server.h).
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa {

/// "pause" "resume" "step" "stop" "interrupt" end at step edges; "abort" kills the worker at once.
/// "checkpoint" saves the state at the next step edge, of a paused run at once: the recording tells where
/// (meta keys checkpoint, checkpoint_error, checkpoint_ns). "watch0" "watch1" "watch2" are the level of tensor records from the next
/// step on, also of a run that has not started.
struct RunStatus {
    std::string mode;  // "no" "fp16" ...: the name of the run in commands
    std::string run_dir;
    std::string state;  // as in the recording: "queued" ... "lost"
    std::string reason;
    std::int64_t steps = 0;
    bool alive = false;  // its worker process is there
};

struct ControlEvent {
    enum class Kind { Status, Controller, Refused, Done, Ended, Disconnected };
    Kind kind = Kind::Status;
    std::vector<RunStatus> runs;  // Status
    std::string phase;            // Status: "trial" "running" "repeating" (the control, once the modes have ended) "finishing"
    bool is_controller = false;   // Controller: we may send commands from now on, or not
    std::int64_t holder = 0;      // Controller: the process that has the control; 0: nobody
    std::string text;             // Refused: why; Done: what was done; Controller: who holds it
    int exit_code = 0;            // Ended: of the whole job
};

enum class ControlRole { Control, Watch, Shell };

class ControlClient {
  public:
    /// Connects to the supervisor of a job folder or of a run folder. Error when none is alive there.
    static Result<ControlClient> connect(const std::filesystem::path& folder, ControlRole role);
    ControlClient(ControlClient&& other) noexcept;
    ControlClient& operator=(ControlClient&& other) noexcept;
    ~ControlClient();

    /// Sends a command for one run (its mode) or all (empty). The answer comes as an event (Done or Refused).
    Result<void> send(const std::string& command, const std::string& run = {});
    Result<void> ask_status() { return send("status"); }
    /// Non-blocking. A descriptor for poll() or QSocketNotifier is readable when there is something to take.
    std::optional<ControlEvent> take_event();
    /// As take_event, but waits up to `milliseconds`.
    std::optional<ControlEvent> wait_event(int milliseconds);
    [[nodiscard]] int descriptor() const { return m_descriptor; }
    /// Whether commands are accepted (false until the supervisor's greeting has been taken).
    [[nodiscard]] bool is_controller() const { return m_is_controller; }

  private:
    explicit ControlClient(int descriptor) : m_descriptor(descriptor) {}
    void read_more();
    std::optional<ControlEvent> parse_line(const std::string& line);

    int m_descriptor = -1;
    bool m_is_controller = false, m_disconnected = false, m_told = false;
    std::string m_buffer;
};

/// connect, send to an idle supervisor, wait for the answer: for one-shot use (`mantissa runs control`).
Result<std::string> send_one_command(const std::filesystem::path& folder, const std::string& command,
                                     const std::string& run, int milliseconds = 3000);

}  // namespace mantissa
