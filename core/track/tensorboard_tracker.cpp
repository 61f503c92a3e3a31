#include "track/tensorboard_tracker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/numbers.h"

namespace mantissa {
namespace {

double wall_time_now() { return static_cast<double>(now_ns()) / 1e9; }

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// YAML's float has a point, else "1e-05" would come back as a text.
std::string yaml_number(double value, bool is_whole) {
    if (std::isnan(value)) return ".nan";
    if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
    if (is_whole) return std::to_string(static_cast<std::int64_t>(value));
    std::string text = to_text(value);
    const auto exponent = text.find('e');
    if (text.find('.') == std::string::npos) text.insert(std::min(exponent, text.size()), ".0");
    const auto at = text.find('e');
    if (at != std::string::npos && text[at + 1] != '-' && text[at + 1] != '+') text.insert(at + 1, "+");
    return text;
}

// A project's name may hold "/", which makes folders, as upstream; it may not leave the logging folder.
Result<void> check_project(const std::string& project) {
    const std::filesystem::path path(project);
    const bool climbs = std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
    if (project.empty() || path.is_absolute() || climbs || project.find('\0') != std::string::npos)
        return Error{ErrorCode::BadPlan, "the project's name " + quoted(project) + " is no folder below the logging folder",
                     "use a name such as mnist, or mnist/first"};
    return {};
}

}  // namespace

std::string config_to_yaml(const TrackerConfig& config) {
    if (config.empty()) return "{}\n";
    std::string text;
    for (const auto& [name, value] : config) {
        text += quoted(name) + ": ";
        if (value.text() != nullptr) text += quoted(*value.text());
        if (value.truth() != nullptr) text += *value.truth() ? "true" : "false";
        if (value.number() != nullptr) text += yaml_number(*value.number(), value.is_whole());
        text += "\n";
    }
    return text;
}

Result<void> TensorBoardTracker::start(const TrackerStart& start) {
    if (auto checked = check_project(start.project); !checked) return checked;
    m_folder = start.logging_dir / start.project;
    const double wall_time = wall_time_now();
    if (auto file = file_in(m_folder, wall_time); !file) return file.error();
    return write_config(start.config, wall_time);
}

Result<EventFile*> TensorBoardTracker::file_in(const std::filesystem::path& folder, double wall_time) {
    if (const auto found = m_files.find(folder); found != m_files.end()) return &found->second;
    auto file = EventFile::create(folder, wall_time);
    if (!file) return file.error();
    return &m_files.emplace(folder, std::move(file).value()).first->second;
}

Result<void> TensorBoardTracker::write_config(const TrackerConfig& config, double wall_time) {
    if (config.empty()) return {};
    std::array<char, 40> named_by_time{};
    std::snprintf(named_by_time.data(), named_by_time.size(), "%.6f", wall_time);
    const std::filesystem::path folder = m_folder / named_by_time.data();
    auto file = EventFile::create(folder, wall_time);
    if (!file) return file.error();
    file->add(wall_time, 0, event::hparams_experiment(config));
    file->add(wall_time, 0, event::hparams_session_start(config));
    file->add(wall_time, 0, event::hparams_session_end());
    if (auto flushed = file->flush(); !flushed) return flushed;
    return write_file_atomically(folder / "hparams.yml", config_to_yaml(config));
}

Result<void> TensorBoardTracker::log(const TrackedValues& values, std::optional<std::int64_t> step) {
    const double wall_time = wall_time_now();
    const auto add = [&](const std::filesystem::path& folder, const std::string& summary) -> Result<void> {
        auto file = file_in(folder, wall_time);
        if (!file) return file.error();
        (*file)->add(wall_time, step.value_or(0), summary);
        return {};
    };
    for (const auto& [name, value] : values) {
        if (value.numbers() != nullptr) {
            std::string flat = name;
            std::replace(flat.begin(), flat.end(), '/', '_');
            for (const auto& [key, number] : *value.numbers()) {
                std::string part = flat + "_" + key;
                std::replace(part.begin(), part.end(), '/', '_');
                if (auto added = add(m_folder / part, event::scalar_summary(name, number)); !added) return added;
            }
            continue;
        }
        const std::string summary = value.text() != nullptr ? event::text_summary(name, *value.text())
                                                            : event::scalar_summary(name, *value.number());
        if (auto added = add(m_folder, summary); !added) return added;
    }
    for (auto& [folder, file] : m_files)
        if (auto flushed = file.flush(); !flushed) return flushed;
    return {};
}

Result<void> TensorBoardTracker::finish() {
    for (auto& [folder, file] : m_files)
        if (auto flushed = file.flush(); !flushed) return flushed;
    m_files.clear();
    return {};
}

}  // namespace mantissa
