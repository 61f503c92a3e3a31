#pragma once
// A lesson that somebody took: RUNS/lessons/<time>-<id>/lesson.json names the lesson, the prediction (written before the first run, never
// changed) and the job folder of each run. So it can be shown again without training.
#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "lessons/lesson_outcome.h"

namespace mantissa {

struct LessonSession {
    std::filesystem::path folder;
    std::string lesson;      // its id
    std::string prediction;  // an answer's key; empty: none was made
    std::map<std::string, std::filesystem::path> jobs;  // by the id of the run: comparison folder or run folder
};

Result<LessonSession> create_lesson_session(const std::filesystem::path& runs, const Lesson& lesson, const std::string& prediction);
Result<void> add_lesson_job(LessonSession& session, const std::string& run, const std::filesystem::path& job);
Result<LessonSession> read_lesson_session(const std::filesystem::path& folder);
/// Newest first.
[[nodiscard]] std::vector<LessonSession> list_lesson_sessions(const std::filesystem::path& runs);

/// Of the runs that are there; a run that can't be read is an error.
Result<LessonEvidence> load_lesson_evidence(const LessonSession& session);

}  // namespace mantissa
