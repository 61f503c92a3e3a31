#include "launch/control_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "base/clock.h"
#include "launch/socket_address.h"

namespace mantissa {

namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_line = 4096;
constexpr std::size_t most_clients = 64;

std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string who(pid_t holder) { return holder == 0 ? "nobody" : "another program (process " + std::to_string(holder) + ")"; }

std::string controller_line(bool is_controller, pid_t holder) {
    return line_of({{"event", "controller"},
                    {"controller", is_controller},
                    {"holder", holder},
                    {"text", is_controller ? "you control this job" : who(holder) + " controls this job; you watch it"}});
}

/// The folder of our sockets: ours alone, so that nobody else can connect or put a file in the way.
Result<std::filesystem::path> socket_folder() {
    std::vector<std::filesystem::path> candidates;
    if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
        candidates.emplace_back(std::filesystem::path(runtime) / "mantissa");
    }
    candidates.emplace_back("/tmp/mantissa-" + std::to_string(::getuid()));
    std::string reasons;
    for (const auto& folder : candidates) {
        if (folder.string().size() > 80) continue;  // a socket's path ends at 107 bytes
        struct stat info {};
        const bool made = ::mkdir(folder.c_str(), 0700) == 0;
        const int number = errno;
        if (!made && number != EEXIST)
            reasons += folder.string() + ": " + std::strerror(number) + "; ";
        else if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::getuid() ||
                 (info.st_mode & 077) != 0) {
            reasons += folder.string() + " is not a folder that belongs to this user alone; ";
        } else {
            return folder;
        }
    }
    return Error{ErrorCode::InputOutput, "no place for the control socket: " + reasons,
                 "set XDG_RUNTIME_DIR to a folder of yours"};
}

/// A killed supervisor leaves its socket behind: nobody answers there, so it goes.
void remove_dead_sockets(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ".sock" || entry.path().string().size() > 100) continue;
        // A young one may belong to a supervisor that is between bind and listen.
        struct stat info {};
        if (::lstat(entry.path().c_str(), &info) != 0 || now_ns() / 1'000'000'000 - info.st_mtime < 60)
            continue;
        const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const sockaddr_un address = socket_address(entry.path());
        const bool refused =
            ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
            errno == ECONNREFUSED;
        ::close(descriptor);
        if (refused) ::unlink(entry.path().c_str());
    }
}

std::filesystem::path unique_socket(const std::filesystem::path& folder) {
    std::random_device random;
    std::array<char, 17> name{};
    std::snprintf(name.data(), name.size(), "%08x%08x", random(), random());
    return folder / (std::string(name.data()) + ".sock");
}

/// The process at the other end; 0 when it isn't this user's.
pid_t process_of_same_user(int descriptor) {
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool known = ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    return known && peer.uid == ::getuid() ? peer.pid : 0;
}

}  // namespace

Result<ControlServer> ControlServer::open(Commands commands, Status status, pid_t owner) {
    const auto folder = socket_folder();
    if (!folder) return folder.error();
    remove_dead_sockets(*folder);
    ControlServer server;
    server.m_commands = std::move(commands);
    server.m_status = std::move(status);
    server.m_owner = owner;
    server.m_path = unique_socket(*folder);
    server.m_listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const sockaddr_un address = socket_address(server.m_path);
    if (server.m_listener < 0 ||
        ::bind(server.m_listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(server.m_listener, 16) != 0) {
        return Error{ErrorCode::InputOutput,
                     "can't listen on " + server.m_path.string() + ": " + std::strerror(errno), ""};
    }
    return server;
}

ControlServer::ControlServer(ControlServer&& other) noexcept
    : m_commands(std::move(other.m_commands)),
      m_status(std::move(other.m_status)),
      m_path(std::exchange(other.m_path, {})),
      m_listener(std::exchange(other.m_listener, -1)),
      m_owner(other.m_owner),
      m_clients(std::exchange(other.m_clients, {})) {}

ControlServer::~ControlServer() {
    for (const auto& client : m_clients) ::close(client.descriptor);
    if (m_listener >= 0) ::close(m_listener);
    if (!m_path.empty()) ::unlink(m_path.c_str());
}

void ControlServer::add_to(std::vector<pollfd>& events) const {
    events.push_back({m_listener, POLLIN, 0});
    for (const auto& client : m_clients) events.push_back({client.descriptor, POLLIN, 0});
}

void ControlServer::serve() {
    accept_clients();
    for (auto client = m_clients.begin(); client != m_clients.end();) {
        if (read_client(*client)) {
            ++client;
        } else {
            ::close(client->descriptor);
            client = m_clients.erase(client);
        }
    }
    give_control();
}

void ControlServer::accept_clients() {
    while (true) {
        const int descriptor = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) return;
        const pid_t process = process_of_same_user(descriptor);
        if (process == 0 || m_clients.size() >= most_clients) {
            ::close(descriptor);
        } else {
            Client& client = m_clients.emplace_back();
            client.descriptor = descriptor;
            client.process = process;
        }
    }
}

bool ControlServer::read_client(Client& client) {
    std::array<char, 2048> bytes{};
    while (true) {
        const ssize_t count = ::recv(client.descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count == 0) return false;
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        client.buffer.append(bytes.data(), static_cast<std::size_t>(count));
        for (auto end = client.buffer.find('\n'); end != std::string::npos; end = client.buffer.find('\n')) {
            take_line(client, client.buffer.substr(0, end));
            client.buffer.erase(0, end + 1);
        }
        if (client.buffer.size() > longest_line) return false;
    }
}

void ControlServer::take_line(Client& client, const std::string& line) {
    const auto json = Json::parse(line, nullptr, false);
    const auto text_of = [&json](const char* key) {
        return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>()
                                                                               : std::string();
    };
    const std::string command = text_of("command");
    if (command == "hello") {
        client.wants_control = text_of("role") == "control";
        client.is_shell = text_of("role") == "shell";
        give_control();
        if (!client.is_controller) send_line(client, controller_line(false, holder()));
        send_line(client, status_line());
    } else if (command == "status") {
        send_line(client, status_line());
    } else if (!client.is_controller && !client.is_shell) {
        send_line(client, line_of({{"event", "refused"}, {"text", who(holder()) + " controls this job; '" + command + "' was not done"}}));
    } else {
        const auto answer = m_commands(command, text_of("run"));
        const bool has_other = client.is_shell && holder() != 0;
        const std::string other = has_other ? " (a window controls it too: process " + std::to_string(holder()) + ")" : "";
        send_line(client, line_of({{"event", answer ? "done" : "refused"}, {"text", answer ? *answer + other : describe(answer.error())}}));
    }
}

void ControlServer::give_control() {
    if (holder() != 0) return;
    const auto next =
        std::find_if(m_clients.begin(), m_clients.end(), [](const Client& c) { return c.wants_control; });
    if (next == m_clients.end()) return;
    next->is_controller = true;
    send_line(*next, controller_line(true, next->process));
    tell_watchers();
}

pid_t ControlServer::holder() const {
    if (m_owner != 0) return m_owner;
    const auto found = std::find_if(m_clients.begin(), m_clients.end(), [](const Client& c) { return c.is_controller; });
    return found == m_clients.end() ? 0 : found->process;
}

/// Those who wait for the control know who has it now.
void ControlServer::tell_watchers() {
    for (const Client& client : m_clients) {
        if (client.wants_control && !client.is_controller) send_line(client, controller_line(false, holder()));
    }
}

void ControlServer::send_line(const Client& client, const std::string& line) {
    // A client that doesn't read loses lines rather than holding up the supervisor; every status line is
    // complete in itself.
    if (::send(client.descriptor, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
        static_cast<ssize_t>(line.size())) {
        ::shutdown(client.descriptor, SHUT_RDWR);
    }
}

std::string ControlServer::status_line() const {
    std::string phase;
    Json runs = Json::array();
    for (const auto& run : m_status(phase)) {
        runs.push_back({{"mode", run.mode},
                        {"run_dir", run.run_dir},
                        {"state", run.state},
                        {"reason", run.reason},
                        {"steps", run.steps},
                        {"alive", run.alive}});
    }
    return line_of({{"event", "status"}, {"phase", phase}, {"runs", runs}});
}

void ControlServer::publish_status() {
    if (m_clients.empty()) return;
    const std::string line = status_line();
    for (const auto& client : m_clients) send_line(client, line);
}

void ControlServer::publish_end(int exit_code) {
    for (const auto& client : m_clients)
        send_line(client, line_of({{"event", "ended"}, {"exit_code", exit_code}}));
}

}  // namespace mantissa
