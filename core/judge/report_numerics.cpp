// The report's section on numbers: what alarms fired, and what the control foretells.
#include "base/numbers.h"
#include "judge/alarms.h"
#include "judge/forecast.h"
#include "judge/html_text.h"
#include "judge/report_sections.h"
#include "judge/report_words.h"

namespace mantissa {
namespace {

constexpr std::size_t most_alarms = 40;

std::string alarms_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::vector<std::string> lines;
    for (const RunEvidence& run : evidence.runs) {
        for (const AlarmRow& row : run.rows.alarms) {
            const auto text = alarm_text(row, texts);
            if (text) lines.push_back(std::string(to_string(run.summary.mode)) + " · " + word(texts, "alarms.level." + row.severity) + " · " + *text);
        }
    }
    if (lines.empty()) return {};
    if (lines.size() > most_alarms) {
        const std::string more = word(texts, "alarms.more", {{"count", std::to_string(lines.size() - most_alarms)}});
        lines.resize(most_alarms);
        lines.push_back(more);
    }
    return html::text_element("p", word(texts, "alarms.heading")) + html::list(lines);
}

std::string forecast_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    for (const RunEvidence& run : evidence.runs) {
        if (run.summary.mode != Precision::No) continue;
        const auto forecast = read_forecast(run.summary.run_dir);
        if (!forecast || forecast->empty()) return {};
        return html::text_element("p", word(texts, "forecast.heading",
                                            {{"first", std::to_string(forecast->first_step)},
                                             {"last", std::to_string(forecast->last_step)},
                                             {"records", readable_count(forecast->records)}})) +
               html::list(forecast_texts(*forecast, texts));
    }
    return {};
}

}  // namespace

std::string numerics_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    return forecast_html(evidence, texts) + alarms_html(evidence, texts);
}

}  // namespace mantissa
