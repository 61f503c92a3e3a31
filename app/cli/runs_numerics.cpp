#include "runs_numerics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "judge/alarms.h"
#include "judge/forecast.h"
#include "judge/texts.h"
#include "output.h"
#include "record/run_reader.h"
#include "table.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;
constexpr std::size_t most_alarms = 12;

std::vector<AlarmRow> alarms_of(const RunSummary& run) {
    auto reader = RunReader::open(run.run_dir);
    if (!reader) return {};
    auto rows = (*reader)->read_new();
    return rows ? std::move(rows->alarms) : std::vector<AlarmRow>{};
}

const RunSummary* control_of(const std::vector<RunSummary>& runs) {
    const auto found = std::find_if(runs.begin(), runs.end(), [](const RunSummary& run) { return run.mode == Precision::No; });
    return found == runs.end() ? nullptr : &*found;
}

void print_entry(const std::string& text) { print_wrapped(text, 4, "  - "); }

void print_alarms(const std::vector<RunSummary>& runs, const TextCatalogue& texts) {
    std::vector<std::string> lines;
    for (const RunSummary& run : runs) {
        for (const AlarmRow& row : alarms_of(run)) {
            const auto text = alarm_text(row, texts);
            const auto level = texts.fill("alarms.level." + row.severity);
            if (text) lines.push_back(std::string(to_string(run.mode)) + "  " + (level ? *level : row.severity) + "  " + *text);
        }
    }
    if (lines.empty()) return;
    print("");
    if (const auto heading = texts.fill("alarms.heading")) print(*heading);
    for (std::size_t i = 0; i < std::min(lines.size(), most_alarms); ++i) print_entry(lines[i]);
    if (lines.size() <= most_alarms) return;
    if (const auto more = texts.fill("alarms.more", {{"count", std::to_string(lines.size() - most_alarms)}})) print("  " + *more);
}

void print_forecast(const RunSummary& control, const TextCatalogue& texts) {
    const auto forecast = read_forecast(control.run_dir);
    if (!forecast || forecast->empty()) return;
    print("");
    const auto heading = texts.fill("forecast.heading", {{"first", std::to_string(forecast->first_step)},
                                                         {"last", std::to_string(forecast->last_step)},
                                                         {"records", readable_count(forecast->records)}});
    if (heading) print(*heading);
    for (const std::string& line : forecast_texts(*forecast, texts)) print_entry(line);
}

Json output_json(const OutputForecast& output) {
    return {{"tensor", output.tensor},
            {"largest", number_to_json(output.largest)},
            {"largest_step", output.largest_step},
            {"headroom_bits", number_to_json(output.headroom_bits)},
            {"step", output.step ? Json(*output.step) : Json(nullptr)},
            {"is_open", output.is_open},
            {"from_step", output.step ? Json(output.from_step) : Json(nullptr)},
            {"to_step", output.step ? Json(output.to_step) : Json(nullptr)},
            {"sureness", output.step ? Json(to_string(output.sureness)) : Json(nullptr)}};
}

Json forecast_json(const Forecast& forecast, const std::vector<std::string>& texts) {
    Json formats = Json::array();
    for (const FormatForecast& one : forecast.formats) {
        Json format{{"mode", to_string(one.mode)}, {"output", one.output ? output_json(*one.output) : Json(nullptr)}};
        if (one.has_gradients)
            format["gradients"] = {{"flush_unscaled", one.flush_unscaled},
                                   {"scale", number_to_json(one.scale)},
                                   {"flush_scaled", one.flush_scaled},
                                   {"overflow_scaled", one.overflow_scaled},
                                   {"needed_log2_scale", one.needed_log2_scale ? Json(*one.needed_log2_scale) : Json(nullptr)}};
        if (one.updates_lost)
            format["updates"] = {{"lost", *one.updates_lost}, {"tensor", one.updates_tensor}, {"tensor_lost", one.updates_tensor_lost}};
        formats.push_back(std::move(format));
    }
    return {{"first_step", forecast.first_step}, {"last_step", forecast.last_step}, {"records", forecast.records}, {"formats", formats},
            {"texts", texts}};
}

}  // namespace

void print_numerics(const std::vector<RunSummary>& runs, const std::string& language) {
    const auto texts = text_catalogue(language);
    if (!texts) return;
    print_alarms(runs, **texts);
    if (const RunSummary* control = control_of(runs)) print_forecast(*control, **texts);
}

Json numerics_json(const std::vector<RunSummary>& runs, const std::string& language) {
    Json json{{"alarms", Json::array()}, {"forecast", nullptr}};
    const auto texts = text_catalogue(language);
    for (const RunSummary& run : runs) {
        for (const AlarmRow& row : alarms_of(run)) {
            Json alarm{{"mode", to_string(run.mode)},           {"step", row.step},
                       {"rule", row.rule},                      {"severity", row.severity},
                       {"tensor", row.tensor},                  {"value", number_to_json(row.value)},
                       {"threshold", number_to_json(row.threshold)}, {"action", row.action}};
            const auto text = texts ? alarm_text(row, **texts) : Result<std::string>(texts.error());
            if (text) alarm["text"] = *text;
            json["alarms"].push_back(std::move(alarm));
        }
    }
    const RunSummary* control = control_of(runs);
    const auto forecast = control == nullptr ? Result<Forecast>(Forecast{}) : read_forecast(control->run_dir);
    if (forecast && !forecast->empty())
        json["forecast"] = forecast_json(*forecast, texts ? forecast_texts(*forecast, **texts) : std::vector<std::string>{});
    return json;
}

}  // namespace mantissa::cli
