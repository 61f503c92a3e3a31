#include "launch/replay_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "launch/child_process.h"
#include "launch/engine_module.h"
#include "launch/supervisor.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

Json error_json(const Error& error) {
    return {{"code", static_cast<int>(error.code)}, {"message", error.message}, {"hint", error.hint}};
}

std::optional<Error> error_from(const Json& json) {
    if (!json.is_object() || !json.contains("error") || !json["error"].is_object()) return std::nullopt;
    const Json& error = json["error"];
    const int code = error.value("code", static_cast<int>(ErrorCode::Internal));
    const bool is_known = code >= 0 && code <= static_cast<int>(ErrorCode::Internal);
    return Error{is_known ? static_cast<ErrorCode>(code) : ErrorCode::Internal, error.value("message", ""), error.value("hint", "")};
}

Result<ReplayAnswer> replay(const std::filesystem::path& request_file, const EngineLoader& loader) {
    const auto text = read_file(request_file);
    if (!text) return text.error();
    const Json json = Json::parse(*text, nullptr, false);
    const auto request = replay_request_from_json(json);
    if (!request) return request.error();
    const auto engine = loader ? loader() : load_engine();
    if (!engine) return engine.error();
    const auto choice = (*engine)->choose_precision(request->plan, request->plan.mixed_precision);
    if (!choice) return choice.error();
    if ((*engine)->replay == nullptr) return Error{ErrorCode::NotBuilt, "this engine module can't replay a step", "install the one that belongs to this program"};
    return (*engine)->replay(*request);
}

}  // namespace

Result<ReplayProcess> ReplayProcess::start(const ReplayRequest& request, const Place& place, std::chrono::seconds limit) {
    ReplayProcess process;
    process.m_what = "the replay of " + request.variant.change();
    process.m_out_file = place.folder / (request.variant.id + ".answer.json");
    process.m_log = place.log;
    process.m_limit = limit;
    process.m_started_ns = monotonic_ns();
    const auto request_file = place.folder / (request.variant.id + ".request.json");
    std::error_code ignored;
    std::filesystem::remove(process.m_out_file, ignored);
    if (auto written = write_file_atomically(request_file, text_of(to_json(request))); !written) return written.error();
    SpawnRequest spawned;
    spawned.program = mantissa_program();
    spawned.arguments = {"replay-step", request_file.string(), process.m_out_file.string()};
    spawned.environment = numeric_environment(request.plan.launch.threads);
    spawned.log_file = place.log;
    spawned.new_session = true;  // Ctrl-C is the parent's to answer
    auto pid = spawn(spawned);
    if (!pid) return pid.error();
    process.m_pid = *pid;
    return process;
}

ReplayProcess::ReplayProcess(ReplayProcess&& other) noexcept { *this = std::move(other); }

ReplayProcess& ReplayProcess::operator=(ReplayProcess&& other) noexcept {
    std::swap(m_pid, other.m_pid);
    std::swap(m_what, other.m_what);
    std::swap(m_out_file, other.m_out_file);
    std::swap(m_log, other.m_log);
    std::swap(m_limit, other.m_limit);
    std::swap(m_started_ns, other.m_started_ns);
    std::swap(m_timed_out, other.m_timed_out);
    return *this;
}

ReplayProcess::~ReplayProcess() {
    if (m_pid > 0) {
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
}

double ReplayProcess::seconds() const { return static_cast<double>(monotonic_ns() - m_started_ns) * 1e-9; }

std::optional<Result<ReplayAnswer>> ReplayProcess::poll() {
    if (m_pid <= 0) return std::nullopt;
    int status = 0;
    const pid_t ended = ::waitpid(m_pid, &status, WNOHANG);
    if (ended == 0) {
        if (seconds() >= static_cast<double>(m_limit.count()) && !m_timed_out) {
            m_timed_out = true;
            ::kill(m_pid, SIGKILL);
        }
        return std::nullopt;
    }
    m_pid = -1;
    if (ended < 0) return Error{ErrorCode::WorkerLost, "the process of " + m_what + " was lost", ""};
    return read_answer(status);
}

Result<ReplayAnswer> ReplayProcess::read_answer(int wait_status) const {
    if (m_timed_out)
        return Error{ErrorCode::WorkerLost, m_what + " did not end within " + std::to_string(m_limit.count()) + " s and was killed",
                     "its words are in " + m_log.string()};
    // A written answer counts even when the process crashed afterwards, on its way out.
    const auto text = read_file(m_out_file);
    if (!text)
        return Error{ErrorCode::WorkerLost, m_what + " gave no answer: its process was " + describe_wait_status(wait_status),
                     "its words are in " + m_log.string()};
    const Json json = Json::parse(*text, nullptr, false);
    if (const auto error = error_from(json)) return *error;
    if (json.is_object() && json.contains("answer")) return replay_answer_from_json(json["answer"]);
    return Error{ErrorCode::Internal, "the answer of " + m_what + " can't be read: " + m_out_file.string(), ""};
}

int run_replay_step(const std::filesystem::path& request_file, const std::filesystem::path& out_file, const EngineLoader& loader) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the answer
    const auto answer = replay(request_file, loader);
    const Json json = answer ? Json{{"answer", to_json(*answer)}} : Json{{"error", error_json(answer.error())}};
    if (const auto written = write_file_atomically(out_file, text_of(json)); !written) {
        log::error(describe(written.error()));
        return exit_code(written.error().code);
    }
    if (answer) return 0;
    log::error(describe(answer.error()));
    return exit_code(answer.error().code);
}

}  // namespace mantissa
