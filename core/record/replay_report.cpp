#include "record/replay_report.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "record/json_fields.h"
#include "record/place_name.h"
#include "record/run_folder.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr const char* step_prefix = "step_";
constexpr std::uint64_t report_limit = 64ull << 20;

template <typename Report>
Result<Report> read_report(const fs::path& file, Result<Report> (*from)(const nlohmann::json&)) {
    const auto text = read_file(file, report_limit);
    if (!text) return text.error();
    const auto json = record_json::parse(*text, file.string());
    if (!json) return json.error();
    auto report = from(*json);
    if (!report) {
        Error error = report.error();
        error.message = file.string() + ": " + error.message;
        return error;
    }
    return report;
}

}  // namespace

std::string OpReading::place() const { return place_name(module, op); }

std::string BirthReport::place() const { return tensor.empty() ? producer.place() : tensor; }

std::string BirthReport::told_place() const {
    const std::string where = place();
    return where.empty() || !rank ? where : where + " (rank " + std::to_string(*rank) + ")";
}

std::string VariantReport::change() const {
    std::string text = id;
    if (!island.empty()) text += " " + island;
    for (const std::string& setting : settings) text += " " + setting;
    return text;
}

std::string VariantReport::this_step_text() const {
    if (!this_step_finite) return "";
    if (*this_step_finite) return "finite";
    return value.empty() ? "not finite" : value;
}

std::string VariantReport::later_text() const {
    if (later_bad_at) return "bad after " + std::to_string(*later_bad_at);
    return holds() ? "holds" : "";
}

const char* to_string(Reproduced reproduced) {
    switch (reproduced) {
        case Reproduced::Bits:
            return "bits";
        case Reproduced::Pattern:
            return "pattern";
        case Reproduced::No:
            return "no";
    }
    return "";
}

std::optional<Reproduced> parse_reproduced(std::string_view text) {
    for (const Reproduced one : {Reproduced::Bits, Reproduced::Pattern, Reproduced::No}) {
        if (text == to_string(one)) return one;
    }
    return std::nullopt;
}

fs::path incident_folder(const fs::path& run, std::int64_t step) {
    return RunFolder{run}.incidents() / (step_prefix + std::to_string(step));
}

Result<IncidentReport> read_incident(const fs::path& folder) {
    return read_report(folder / "incident.json", incident_report_from_json);
}

Result<void> write_incident(const fs::path& folder, const IncidentReport& report) {
    if (auto made = make_folders(folder); !made) return made;
    return write_file_atomically(folder / "incident.json", record_json::dump(to_json(report)));
}

std::vector<std::int64_t> incident_steps(const fs::path& run) {
    std::vector<std::int64_t> steps;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(RunFolder{run}.incidents(), ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(step_prefix) || !fs::exists(entry.path() / "incident.json", ignored)) continue;
        std::int64_t step = 0;
        const char* begin = name.data() + std::string_view(step_prefix).size();
        const auto parsed = std::from_chars(begin, name.data() + name.size(), step);
        if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) steps.push_back(step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

Result<ReplayReport> read_replay(const fs::path& folder) { return read_report(folder / "replay.json", replay_report_from_json); }

Result<void> write_replay(const fs::path& folder, const ReplayReport& report) {
    if (auto made = make_folders(folder); !made) return made;
    return write_file_atomically(folder / "replay.json", record_json::dump(to_json(report)));
}

}  // namespace mantissa
