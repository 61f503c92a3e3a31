#include "launch/control_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "launch/job.h"
#include "launch/run_files.h"
#include "launch/socket_address.h"
#include "record/rank_life.h"
#include "record/run_folder.h"

namespace mantissa {

namespace {
using Json = nlohmann::json;

std::string why_nobody_answers(const std::filesystem::path& folder) {
    const auto job = read_job(folder);
    const bool computes = job && std::any_of(job->runs.begin(), job->runs.end(),
                                             [](const JobRun& run) { return !RunLock::is_free(run.folder); });
    if (!computes) return "the job has ended, or was never started; its recording can still be opened";
    // Its own word says where the process is: a socket is reached on its machine only, and a worker outlives a supervisor that was killed.
    const auto lives = read_lives(job->runs.front().folder.path);
    const auto life = std::find_if(lives.begin(), lives.end(), [](const RankLife& one) { return one.is_alive; });
    const std::string where = life == lives.end() ? "" : " (process " + std::to_string(life->process_id) + " on " + life->host + ")";
    if (!launch_files::is_job_locked(job->folder)) return "it was killed, and a worker goes on to its end" + where + ": a SIGTERM to that process stops it";
    return "the run goes on" + where + ": on its machine `mantissa runs control` reaches it, and a SIGTERM to it stops it after its step";
}

Error nobody(const std::filesystem::path& folder, const std::string& why) {
    return {ErrorCode::InputOutput,
            "no supervisor works on " + folder.string() + (why.empty() ? "" : " (" + why + ")"),
            why_nobody_answers(folder)};
}

template <typename T>
T value_of(const Json& json, const char* key, T otherwise) {
    try {
        return json.value(key, otherwise);
    } catch (const Json::exception&) {
        return otherwise;
    }
}

}  // namespace

Result<ControlClient> ControlClient::connect(const std::filesystem::path& folder, ControlRole role) {
    auto text = read_file(RunFolder{folder}.socket_name(), 4096);
    if (!text) return nobody(folder, "");
    while (!text->empty() && text->back() == '\n') text->pop_back();
    if (text->empty() || text->size() > 100 || text->front() != '/')
        return nobody(folder, "the file 'control' names no socket");
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return nobody(folder, std::strerror(errno));
    ControlClient client(descriptor);
    const sockaddr_un address = socket_address(*text);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return nobody(folder, std::strerror(errno));
    }
    const Json hello{{"command", "hello"}, {"role", role == ControlRole::Control ? "control" : role == ControlRole::Shell ? "shell" : "watch"}};
    const std::string line = hello.dump() + "\n";
    if (::send(descriptor, line.data(), line.size(), MSG_NOSIGNAL) < 0)
        return nobody(folder, std::strerror(errno));
    return client;
}

ControlClient::ControlClient(ControlClient&& other) noexcept {
    *this = std::move(other);
}

ControlClient& ControlClient::operator=(ControlClient&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_is_controller, other.m_is_controller);
    std::swap(m_disconnected, other.m_disconnected);
    std::swap(m_told, other.m_told);
    std::swap(m_buffer, other.m_buffer);
    return *this;
}

ControlClient::~ControlClient() {
    if (m_descriptor >= 0) ::close(m_descriptor);
}

Result<void> ControlClient::send(const std::string& command, const std::string& run) {
    const std::string line =
        Json{{"command", command}, {"run", run}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (m_disconnected ||
        ::send(m_descriptor, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
        return Error{ErrorCode::InputOutput, "the supervisor has ended; '" + command + "' was not sent", ""};
    }
    return {};
}

void ControlClient::read_more() {
    std::array<char, 4096> bytes{};
    while (!m_disconnected) {
        const ssize_t count = ::recv(m_descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count > 0)
            m_buffer.append(bytes.data(), static_cast<std::size_t>(count));
        else if (count == 0 || (errno != EAGAIN && errno != EINTR))
            m_disconnected = true;
        else
            return;
    }
}

std::optional<ControlEvent> ControlClient::take_event() {
    read_more();
    for (auto end = m_buffer.find('\n'); end != std::string::npos; end = m_buffer.find('\n')) {
        const std::string line = m_buffer.substr(0, end);
        m_buffer.erase(0, end + 1);
        if (auto event = parse_line(line)) return event;
    }
    if (!m_disconnected || m_told) return std::nullopt;
    m_told = true;
    ControlEvent event;
    event.kind = ControlEvent::Kind::Disconnected;
    return event;
}

std::optional<ControlEvent> ControlClient::wait_event(int milliseconds) {
    const std::int64_t end_ns = monotonic_ns() + std::int64_t{milliseconds} * 1'000'000;
    while (true) {
        if (auto event = take_event()) return event;
        const std::int64_t left_ms = (end_ns - monotonic_ns()) / 1'000'000;
        if (left_ms <= 0 || m_disconnected) return std::nullopt;
        pollfd readable{m_descriptor, POLLIN, 0};
        // A signal (Ctrl-C) ends the wait, so that the caller can act on it.
        if (::poll(&readable, 1, static_cast<int>(left_ms)) < 0) return std::nullopt;
    }
}

std::optional<ControlEvent> ControlClient::parse_line(const std::string& line) {
    const auto json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    const auto kind = value_of<std::string>(json, "event", "");
    ControlEvent event;
    event.text = value_of<std::string>(json, "text", "");
    if (kind == "controller") {
        event.kind = ControlEvent::Kind::Controller;
        m_is_controller = event.is_controller = value_of(json, "controller", false);
        event.holder = value_of(json, "holder", std::int64_t{0});
    } else if (kind == "done") {
        event.kind = ControlEvent::Kind::Done;
    } else if (kind == "refused") {
        event.kind = ControlEvent::Kind::Refused;
    } else if (kind == "ended") {
        event.kind = ControlEvent::Kind::Ended;
        event.exit_code = value_of(json, "exit_code", 0);
    } else if (kind == "status") {
        event.kind = ControlEvent::Kind::Status;
        event.phase = value_of<std::string>(json, "phase", "");
        for (const auto& run : json.value("runs", Json::array())) {
            event.runs.push_back(
                {value_of<std::string>(run, "mode", ""), value_of<std::string>(run, "run_dir", ""),
                 value_of<std::string>(run, "state", ""), value_of<std::string>(run, "reason", ""),
                 value_of(run, "steps", std::int64_t{0}), value_of(run, "alive", false)});
        }
    } else {
        return std::nullopt;
    }
    return event;
}

Result<std::string> send_one_command(const std::filesystem::path& folder, const std::string& command,
                                     const std::string& run, int milliseconds) {
    auto client = ControlClient::connect(folder, ControlRole::Shell);
    if (!client) return client.error();
    if (const auto sent = client->send(command, run); !sent) return sent.error();
    const std::int64_t end_ns = monotonic_ns() + std::int64_t{milliseconds} * 1'000'000;
    while (monotonic_ns() < end_ns) {
        const auto event = client->wait_event(100);
        if (!event) continue;
        if (event->kind == ControlEvent::Kind::Done) return event->text;
        if (event->kind == ControlEvent::Kind::Refused) return Error{ErrorCode::Usage, event->text, ""};
        if (event->kind == ControlEvent::Kind::Disconnected)
            return nobody(folder, "it ended before it answered");
    }
    return Error{ErrorCode::InputOutput,
                 "the supervisor of " + folder.string() + " did not answer '" + command + "'", ""};
}

}  // namespace mantissa
