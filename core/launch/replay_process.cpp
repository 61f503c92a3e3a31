#include "launch/replay_process.h"

#include <sys/prctl.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.h"
#include "base/log.h"
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
    auto child = TimedChild::start(spawned, limit);
    if (!child) return child.error();
    process.m_child = std::move(*child);
    return process;
}

std::optional<Result<ReplayAnswer>> ReplayProcess::poll() {
    const auto end = m_child.poll();
    return end ? std::optional<Result<ReplayAnswer>>(read_answer(*end)) : std::nullopt;
}

Result<ReplayAnswer> ReplayProcess::read_answer(const TimedChild::End& end) const {
    if (end.is_timed_out) return Error{ErrorCode::WorkerLost, m_child.sentence(m_what, end), "its words are in " + m_log.string()};
    // A written answer counts even when the process crashed afterwards, on its way out.
    const auto text = read_file(m_out_file);
    if (!text) return Error{ErrorCode::WorkerLost, m_child.sentence(m_what, end), "its words are in " + m_log.string()};
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
