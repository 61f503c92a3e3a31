#include "record/export_comparison.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "record/run_folder.h"

namespace mantissa {
namespace {

std::string json_string(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> write_csv_rows(const std::filesystem::path& run, const std::string& mode, std::ostream& out) {
    return for_each_step(run, [&](const StepRow& row) {
        out << mode << ',' << step_csv_line(row) << '\n';
        return out.good();
    });
}

Result<void> write_json_steps(const std::filesystem::path& run, std::ostream& out) {
    bool first = true;
    out << '[';
    auto read = for_each_step(run, [&](const StepRow& row) {
        out << (first ? "\n" : ",\n") << step_json_object(row);
        first = false;
        return out.good();
    });
    out << (first ? "]" : "\n]");
    return read;
}

}  // namespace

Result<std::vector<std::string>> export_comparison(const ComparisonRecord& comparison, ExportFormat format,
                                                   std::ostream& out) {
    const bool csv = format == ExportFormat::Csv;
    std::vector<std::string> missing;
    const std::size_t count = std::min(comparison.modes.size(), comparison.run_dirs.size());
    std::error_code ignored;
    for (std::size_t i = 0; i < count; ++i)
        if (!std::filesystem::exists(RunFolder{comparison.run_dirs[i]}.database(), ignored))
            missing.emplace_back(to_string(comparison.modes[i]));
    if (missing.size() == count)
        return Error{ErrorCode::InputOutput, "no run of the comparison " + comparison.id + " has a recording",
                     ""};
    if (csv)
        out << "mode," << step_csv_header() << '\n';
    else
        out << "{\"comparison\": " << json_string(comparison.id) << ", \"runs\": [";
    for (std::size_t i = 0; i < count; ++i) {
        const std::filesystem::path& run = comparison.run_dirs[i];
        const std::string mode = to_string(comparison.modes[i]);
        const bool is_missing = !std::filesystem::exists(RunFolder{run}.database(), ignored);
        if (!csv)
            out << (i > 0 ? ",\n" : "\n") << "{\"mode\": \"" << mode
                << "\", \"run_dir\": " << json_string(run.string()) << ", \"steps\": ";
        if (is_missing) {
            out << (csv ? "" : "null");
        } else if (auto written = csv ? write_csv_rows(run, mode, out) : write_json_steps(run, out);
                   !written) {
            return written.error();
        }
        if (!csv) out << '}';
    }
    if (!csv) out << "\n]}\n";
    out.flush();
    if (!out)
        return Error{ErrorCode::InputOutput, "the export of " + comparison.id + " can't be written", ""};
    return missing;
}

}  // namespace mantissa
