#pragma once
// The socket of a job: listens, knows who controls and who watches, turns lines into commands and answers into lines. Who controls is
// the first connection that asked for it; the kernel ends a connection with its process, and the next one inherits. A command of a shell
// is one act of a person and always done; the answer says who else controls. Internal to core/launch; one thread only.
//
// One JSON object per line.
//   client: {"command":"hello","role":"control"|"watch"|"shell"},
//   {"command":"pause|resume|step|checkpoint|stop|interrupt|abort","run":"fp16"|""},
//           {"command":"status"}
//   server: {"event":"controller","controller":true|false,"holder":<process>,"text":"..."},
//   {"event":"status","phase":"...","runs":[...]},
//           {"event":"done","text":"..."}, {"event":"refused","text":"..."}, {"event":"ended","exit_code":0}
#include <poll.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/control_client.h"

namespace mantissa {

class ControlServer {
  public:
    /// What a command did, or why it was refused.
    using Commands = std::function<Result<std::string>(const std::string& command, const std::string& run)>;
    using Status = std::function<std::vector<RunStatus>(std::string& phase)>;

    /// Listens on a short path below $XDG_RUNTIME_DIR or /tmp, in a folder that only this user can enter. `owner`: a window that controls
    /// the job without this socket, because the job runs inside it; others then only watch. 0: none.
    static Result<ControlServer> open(Commands commands, Status status, pid_t owner = 0);
    ControlServer(ControlServer&& other) noexcept;
    ~ControlServer();  // closes all and removes the socket

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Descriptors to wait for, and what to do when poll() returned.
    void add_to(std::vector<pollfd>& events) const;
    void serve();
    /// Tells every client the present status.
    void publish_status();
    void publish_end(int exit_code);

  private:
    struct Client {
        int descriptor = -1;
        bool wants_control = false, is_controller = false, is_shell = false;
        pid_t process = 0;
        std::string buffer;
    };
    ControlServer() = default;
    void accept_clients();
    bool read_client(Client& client);
    void take_line(Client& client, const std::string& line);
    void give_control();
    [[nodiscard]] pid_t holder() const;
    void tell_watchers();
    static void send_line(const Client& client, const std::string& line);
    [[nodiscard]] std::string status_line() const;

    Commands m_commands;
    Status m_status;
    std::filesystem::path m_path;
    int m_listener = -1;
    pid_t m_owner = 0;
    std::list<Client> m_clients;
};

}  // namespace mantissa
