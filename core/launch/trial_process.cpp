#include "launch/trial_process.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.h"
#include "launch/supervisor.h"

namespace mantissa {

namespace {

constexpr const char* answer_name = "answer.json";

TrialOutcome refusal(Precision mode, const std::string& reason, int exit_code) {
    TrialOutcome outcome;
    outcome.report.mode = mode;
    outcome.report.choice.requested = outcome.report.choice.effective = mode;
    outcome.report.runs = false;
    outcome.report.refusal = reason;
    outcome.exit_code = exit_code;
    return outcome;
}

}  // namespace

Result<TrialProcess> TrialProcess::start(const std::filesystem::path& plan_file, Precision mode,
                                         std::int64_t threads, const std::filesystem::path& log_file,
                                         std::chrono::seconds limit) {
    auto folder = WorkFolder::make("trial");
    if (!folder) return folder.error();
    TrialProcess trial;
    trial.m_mode = mode;
    trial.m_folder = std::move(*folder);
    SpawnRequest request;
    request.program = mantissa_program();
    request.arguments = {"trial", plan_file.string(), to_string(mode), (trial.m_folder.path() / answer_name).string()};
    request.environment = numeric_environment(threads);
    request.log_file = log_file;
    auto child = TimedChild::start(request, limit);
    if (!child) return child.error();
    trial.m_child = std::move(*child);
    return trial;
}

std::optional<TrialOutcome> TrialProcess::poll() {
    const auto end = m_child.poll();
    return end ? std::optional<TrialOutcome>(read_outcome(*end)) : std::nullopt;
}

TrialOutcome TrialProcess::read_outcome(const TimedChild::End& end) const {
    const std::string what = "the trial of " + std::string(to_string(m_mode));
    if (end.is_timed_out) return refusal(m_mode, m_child.sentence(what, end), exit_code(ErrorCode::WorkerLost));
    // A written answer counts even when the process crashed afterwards, on its way out.
    const std::filesystem::path file = m_folder.path() / answer_name;
    const auto text = read_file(file, 1 << 20);
    if (!text) return refusal(m_mode, m_child.sentence(what, end), exit_code(ErrorCode::WorkerLost));
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_object() && json.contains("report")) {
        if (auto report = trial_report_from_json(json["report"])) {
            return {*report, json.value("exit_code", 0), json.value("device_memory_bytes", std::int64_t{0})};
        }
    }
    return refusal(m_mode, "the trial's answer can't be read: " + file.string(),
                   exit_code(ErrorCode::Internal));
}

}  // namespace mantissa
