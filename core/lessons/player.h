#pragma once
// One HTML file that plays a recording: curves, ledger, cursor, for a lesson with its question and the prediction that is locked before
// the first step. Nothing from the network; works from a file, on any machine with a browser.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lessons/lesson_outcome.h"

namespace mantissa {

/// Runs that are shown together.
struct PlayerGroup {
    std::string name;  // empty where there is only one
    std::vector<const RunEvidence*> runs;
};

struct PlayerSubject {
    std::string title;
    std::vector<PlayerGroup> groups;
    const Lesson* lesson = nullptr;          // with its outcome
    const LessonOutcome* outcome = nullptr;
};

/// The page as text.
Result<std::string> player_html(const PlayerSubject& subject, const TextCatalogue& texts);

/// Of the folder of a lesson that was taken, of a comparison, or of a single run. Empty `output`: player.html there. Returns what was written.
Result<std::filesystem::path> write_player(const std::filesystem::path& folder, std::string_view language, const std::filesystem::path& output = {});

}  // namespace mantissa
