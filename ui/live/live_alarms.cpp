#include "ui/live/live_alarms.h"

#include <algorithm>

#include "base/numbers.h"
#include "judge/alarms.h"
#include "judge/texts.h"

namespace mantissa::ui {
namespace {

constexpr int mostLines = 40;

std::size_t alarmsOf(const ComparisonFollower& follower) {
    std::size_t count = 0;
    for (const auto& run : follower.runs()) {
        count += run->alarms().size();
    }
    return count;
}

}  // namespace

bool LiveAlarms::update(const ComparisonFollower& follower, const std::string& language) {
    const bool isSame = m_language == language && m_notes.size() == follower.runs().size() && static_cast<std::size_t>(count()) == alarmsOf(follower);
    if (isSame) {
        return false;
    }
    m_language = language;
    const auto texts = text_catalogue(language);
    m_notes.assign(follower.runs().size(), {});
    for (std::size_t i = 0; i < m_notes.size(); ++i) {
        for (const AlarmRow& row : follower.runs()[i]->alarms()) {
            const auto sentence = texts ? alarm_text(row, **texts) : Result<std::string>(texts.error());
            // A rule of a newer version has no sentence here: its name and number are better than nothing.
            const std::string plain = row.rule + " " + row.tensor + " " + to_text(row.value);
            m_notes[i].push_back({row.step, row.severity == "error", QString::fromStdString(sentence ? *sentence : plain)});
        }
    }
    return true;
}

const std::vector<ChartNote>* LiveAlarms::notes(std::size_t index) const {
    return index < m_notes.size() && !m_notes[index].empty() ? &m_notes[index] : nullptr;
}

int LiveAlarms::count() const {
    std::size_t count = 0;
    for (const auto& notes : m_notes) {
        count += notes.size();
    }
    return static_cast<int>(count);
}

QString LiveAlarms::html(const ComparisonFollower& follower, const ThemeColours& colours) const {
    std::vector<std::pair<std::int64_t, QString>> lines;
    for (std::size_t i = 0; i < std::min(m_notes.size(), follower.runs().size()); ++i) {
        const QString mode = QLatin1String(to_string(follower.runs()[i]->mode()));
        for (const ChartNote& note : m_notes[i]) {
            const QColor colour = note.isError ? colours.error : colours.warning;
            lines.emplace_back(note.step, QStringLiteral("<p><span style=\"color:%1\">▲</span>&nbsp; <b>%2</b> · %3</p>")
                                              .arg(colour.name(), mode, note.text.toHtmlEscaped()));
        }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    QString html;
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), mostLines); ++i) {
        html += lines[i].second;
    }
    return html;
}

}  // namespace mantissa::ui
