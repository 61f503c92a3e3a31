#include "launch/replay_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error_json.h"
#include "base/files.h"
#include "base/log.h"
#include "launch/engine_module.h"
#include "launch/supervisor.h"
#include "launch/trusted_files.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

/// The others of a group notice an end at once, and end of it: the one that began it has ended by then.
constexpr double longest_wait_for_the_first = 2;

bool is_good(const TimedChild::End& end) { return !end.is_timed_out && end.wait_status && *end.wait_status == 0; }

// It ended because another one had.
bool only_lost_the_others(const TimedChild::End& end) {
    return !end.is_timed_out && end.wait_status && WIFEXITED(*end.wait_status) && WEXITSTATUS(*end.wait_status) == exit_code(ErrorCode::WorkerLost);
}

Result<ReplayAnswer> replay(const std::filesystem::path& request_file, const EngineLoader& loader) {
    const auto text = read_file(request_file);
    if (!text) return text.error();
    const Json json = Json::parse(*text, nullptr, false);
    const auto request = replay_request_from_json(json);
    if (!request) return request.error();
    if (const auto trusted = require_trusted_model(request->plan); !trusted) return trusted.error();
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
    process.m_log = place.log;
    const std::int64_t processes = request.plan.launch.processes;
    const auto meeting_file = place.folder / (request.variant.id + ".meeting");
    std::error_code ignored;
    std::filesystem::remove(meeting_file, ignored);
    for (std::int64_t rank = 0; rank < processes; ++rank) {
        ReplayRequest own = request;
        if (processes > 1)
            own.ranks = RankPlace{.rank = rank, .size = processes, .local_rank = rank, .store_file = meeting_file.string(),
                                  .timeout_ms = request.plan.launch.group_timeout_seconds * 1000};
        if (const auto started = process.start_member(std::move(own), place, limit); !started) return started.error();
    }
    return process;
}

Result<void> ReplayProcess::start_member(ReplayRequest request, const Place& place, std::chrono::seconds limit) {
    Member member;
    const std::string rank = request.ranks ? std::to_string(request.ranks->rank) : "";
    const std::string name = request.variant.id + (rank.empty() ? "" : "." + rank);
    member.what = (rank.empty() ? "" : "rank " + rank + " of ") + ("the replay of " + request.variant.change());
    member.out_file = place.folder / (name + ".answer.json");
    const auto request_file = place.folder / (name + ".request.json");
    std::error_code ignored;
    std::filesystem::remove(member.out_file, ignored);
    if (auto written = write_file_atomically(request_file, text_of(to_json(request))); !written) return written.error();
    SpawnRequest spawned;
    spawned.program = mantissa_program();
    spawned.arguments = {"replay-step", request_file.string(), member.out_file.string()};
    spawned.environment = numeric_environment(request.plan.launch.threads);
    spawned.log_file = place.log;
    spawned.new_session = true;  // Ctrl-C is the parent's to answer
    auto child = TimedChild::start(spawned, limit);
    if (!child) return child.error();
    member.child = std::move(*child);
    m_members.push_back(std::move(member));
    return {};
}

std::optional<Result<ReplayAnswer>> ReplayProcess::poll() {
    for (Member& member : m_members)
        if (!member.end) member.end = member.child.poll();
    if (const Member* bad = culprit()) return read_answer(*bad);
    const bool have_ended = std::all_of(m_members.begin(), m_members.end(), [](const Member& one) { return one.end && is_good(*one.end); });
    return have_ended ? std::optional<Result<ReplayAnswer>>(read_answer(m_members.front())) : std::nullopt;
}

/// Who ended badly by itself; null while nobody has, or while it may still come.
const ReplayProcess::Member* ReplayProcess::culprit() {
    const Member* lost = nullptr;
    for (const Member& member : m_members) {
        if (!member.end || is_good(*member.end)) continue;
        if (!only_lost_the_others(*member.end)) return &member;
        if (lost == nullptr) lost = &member;
    }
    if (lost == nullptr) return nullptr;
    if (!m_lost_at) m_lost_at = seconds();
    const bool have_all_ended = std::all_of(m_members.begin(), m_members.end(), [](const Member& one) { return one.end.has_value(); });
    return have_all_ended || seconds() - *m_lost_at > longest_wait_for_the_first ? lost : nullptr;
}

Result<ReplayAnswer> ReplayProcess::read_answer(const Member& member) const {
    const TimedChild::End& end = *member.end;
    if (end.is_timed_out) return Error{ErrorCode::WorkerLost, member.child.sentence(member.what, end), "its words are in " + m_log.string()};
    // A written answer counts even when the process crashed afterwards, on its way out.
    const auto text = read_file(member.out_file);
    if (!text) return Error{ErrorCode::WorkerLost, member.child.sentence(member.what, end), "its words are in " + m_log.string()};
    const Json json = Json::parse(*text, nullptr, false);
    if (json.is_object() && json.contains("error"))
        if (const auto error = error_from_json(json["error"])) return *error;
    if (json.is_object() && json.contains("answer")) return replay_answer_from_json(json["answer"]);
    return Error{ErrorCode::Internal, "the answer of " + member.what + " can't be read: " + member.out_file.string(), ""};
}

int run_replay_step(const std::filesystem::path& request_file, const std::filesystem::path& out_file, const EngineLoader& loader) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read the answer
    const auto answer = replay(request_file, loader);
    const Json json = answer ? Json{{"answer", to_json(*answer)}} : Json{{"error", error_to_json(answer.error())}};
    if (const auto written = write_file_atomically(out_file, text_of(json)); !written) {
        log::error(describe(written.error()));
        return exit_code(written.error().code);
    }
    if (answer) return 0;
    log::error(describe(answer.error()));
    return exit_code(answer.error().code);
}

}  // namespace mantissa
