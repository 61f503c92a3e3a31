// The report's section on bad steps: where each was born, what its replay has found, and the command that does it again.
#include "base/paths.h"
#include "judge/html_text.h"
#include "judge/replay_command.h"
#include "judge/replay_verdict.h"
#include "judge/report_sections.h"
#include "judge/report_words.h"
#include "record/replay_report.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_incidents = 20;

/// As a shell reads it as one word.
std::string shell_word(const std::string& text) {
    constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+,:@%";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

/// Words in the language of the report, whatever the replay was written in. Empty: it has found nothing to say.
std::string verdict_part(ReplayReport replay, const TextCatalogue& texts) {
    const std::string written = replay.verdict ? replay.verdict->text : "";
    if (const auto judged = give_verdict(replay, load_replay_facts(replay), texts.language()); !judged || !replay.verdict)
        return written.empty() ? "" : html::text_element("p", written);
    return html::text_element("p", replay.verdict->text) + (replay.verdict->evidence.empty() ? "" : html::list(replay.verdict->evidence));
}

std::string incident_html(const fs::path& run, std::int64_t step, Precision mode, const TextCatalogue& texts) {
    const auto incident = read_incident(incident_folder(run, step));
    if (!incident) return "";  // damaged: `mantissa replay` says what to do
    const std::string rank = incident->rank ? " (rank " + std::to_string(*incident->rank) + ")" : "";
    TextValues values{{"step", std::to_string(step)}, {"mode", to_string(mode)}, {"where", incident->birth ? incident->birth->place() + rank : ""}};
    std::string card = html::text_element("span", word(texts, "report.severity." + incident->severity), "badge " + incident->severity) + " " +
                       html::text_element("code", incident->kind) + " " + html::text_element("span", to_string(mode), std::string("mode ") + to_string(mode));
    card += html::text_element("p", word(texts, incident->birth ? "report.incident.born" : "report.incident.bad", values));
    auto replay = read_replay(incident_folder(run, step));
    std::string found;
    if (replay && replay->state != "running" && replay->reproduced) {
        replay->run_dir = run.string();  // it may have been moved since
        found = verdict_part(std::move(*replay), texts);
    }
    card += found.empty() ? "" : html::text_element("p", word(texts, "report.incident.replayed"), "quiet") + found;
    card += html::element("p", html::escaped(word(texts, found.empty() ? "report.incident.replay" : "report.incident.again")) + " " +
                                   html::text_element("code", replay_command(run, step)));
    return html::element("article", card, incident->severity) + "\n";
}

}  // namespace

std::string replay_command(const fs::path& run, std::int64_t step) {
    const bool is_known_by_name = run.parent_path() == runs_folder();
    return "mantissa replay " + shell_word(is_known_by_name ? run.filename().string() : run.string()) + " --step " + std::to_string(step);
}

std::string incidents_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::string html;
    std::size_t count = 0;
    for (const RunEvidence& run : evidence.runs)
        for (const std::int64_t step : incident_steps(run.summary.run_dir))
            if (count++ < most_incidents) html += incident_html(run.summary.run_dir, step, run.summary.mode, texts);
    return html;
}

}  // namespace mantissa
