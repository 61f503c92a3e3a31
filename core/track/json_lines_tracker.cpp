#include "track/json_lines_tracker.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/numbers.h"
#include "record/export_steps.h"
#include "record/run_folder.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const ConfigValue& value) {
    if (value.text() != nullptr) return *value.text();
    if (value.truth() != nullptr) return *value.truth();
    return value.is_whole() ? Json(static_cast<std::int64_t>(*value.number())) : number_to_json(*value.number());
}

Json to_json(const TrackedValue& value) {
    if (value.text() != nullptr) return *value.text();
    if (value.number() != nullptr) return number_to_json(*value.number());
    Json numbers = Json::object();
    for (const auto& [key, number] : *value.numbers()) numbers[key] = number_to_json(number);
    return numbers;
}

}  // namespace

Result<void> JsonLinesTracker::write(const std::string& line) {
    errno = 0;
    m_out << line << '\n';
    m_out.flush();
    if (!m_out)
        return Error{ErrorCode::InputOutput, m_path.string() + " can't be written: " + std::generic_category().message(errno),
                     "choose another place"};
    return {};
}

Result<void> JsonLinesTracker::start(const TrackerStart& start) {
    if (auto made = make_folders(start.logging_dir); !made) return made;
    m_path = start.logging_dir / (folder_name_part(start.project) + ".jsonl");
    m_out.open(m_path, std::ios::binary | std::ios::trunc);
    Json config = Json::object();
    for (const auto& [name, value] : start.config) config[name] = to_json(value);
    return write(dumped({{"project", start.project}, {"config", config}, {"time_ns", now_ns()}}));
}

Result<void> JsonLinesTracker::log(const TrackedValues& values, std::optional<std::int64_t> step) {
    Json all = Json::object();
    for (const auto& [name, value] : values) all[name] = to_json(value);
    return write(dumped({{"step", step ? Json(*step) : Json(nullptr)}, {"time_ns", now_ns()}, {"values", all}}));
}

Result<void> JsonLinesTracker::attempt(const TrackedAttempt& attempt) {
    return write("{\"attempt\": " + step_json_object(attempt.row) + "}");
}

Result<void> JsonLinesTracker::finish() {
    m_out.close();
    return {};
}

}  // namespace mantissa
