#include "lessons/lesson_session.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "record/json_fields.h"
#include "record/run_folder.h"

namespace mantissa {
namespace {

constexpr const char* sessions_name = "lessons";
constexpr const char* session_file = "lesson.json";

Result<void> write_session(const LessonSession& session) {
    nlohmann::json jobs = nlohmann::json::object();
    // Relative, so that a runs folder can be moved as a whole.
    for (const auto& [run, job] : session.jobs) jobs[run] = job.lexically_relative(session.folder).generic_string();
    const nlohmann::json json{{"lesson", session.lesson}, {"prediction", session.prediction}, {"jobs", jobs}};
    return write_file_atomically(session.folder / session_file, record_json::dump(json));
}

}  // namespace

Result<LessonSession> create_lesson_session(const std::filesystem::path& runs, const Lesson& lesson, const std::string& prediction) {
    auto folder = create_unique_folder(std::filesystem::absolute(runs) / sessions_name, file_time_stamp(now_ns()) + "-" + folder_name_part(lesson.id));
    if (!folder) return folder.error();
    LessonSession session{*folder, lesson.id, prediction, {}};
    if (auto written = write_session(session); !written) return written.error();
    return session;
}

Result<void> add_lesson_job(LessonSession& session, const std::string& run, const std::filesystem::path& job) {
    session.jobs[run] = std::filesystem::absolute(job).lexically_normal();
    return write_session(session);
}

Result<LessonSession> read_lesson_session(const std::filesystem::path& folder) {
    const auto path = folder / session_file;
    auto text = read_file(path, lesson_file_limit_bytes);
    if (!text) return text.error();
    auto json = record_json::parse(*text, path.string());
    if (!json) return json.error();
    LessonSession session;
    session.folder = std::filesystem::absolute(folder).lexically_normal();
    record_json::Fields fields(*json, path.string());
    std::map<std::string, std::string> jobs;
    fields.read("lesson", session.lesson);
    fields.read("prediction", session.prediction);
    fields.read("jobs", jobs);
    if (auto read = fields.result(); !read) return read.error();
    for (const auto& [run, job] : jobs) session.jobs[run] = (session.folder / job).lexically_normal();
    return session;
}

std::vector<LessonSession> list_lesson_sessions(const std::filesystem::path& runs) {
    std::vector<LessonSession> sessions;
    std::error_code problem;
    for (std::filesystem::directory_iterator entry(runs / sessions_name, problem), end; !problem && entry != end; entry.increment(problem))
        if (auto session = read_lesson_session(entry->path())) sessions.push_back(std::move(*session));
    std::sort(sessions.begin(), sessions.end(), [](const LessonSession& a, const LessonSession& b) { return a.folder > b.folder; });
    return sessions;
}

Result<LessonEvidence> load_lesson_evidence(const LessonSession& session) {
    LessonEvidence all;
    for (const auto& [run, job] : session.jobs) {
        std::error_code ignored;
        if (std::filesystem::exists(job / "comparison.json", ignored)) {
            auto record = read_comparison(job);
            if (!record) return record.error();
            auto evidence = load_comparison_evidence(*record);
            if (!evidence) return evidence.error();
            all[run] = std::move(*evidence);
        } else {
            auto evidence = load_run_evidence(job);
            if (!evidence) return evidence.error();
            all[run].modes = {evidence->summary.mode};
            all[run].runs.push_back(std::move(*evidence));
        }
    }
    return all;
}

}  // namespace mantissa
