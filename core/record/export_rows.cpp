#include "record/export_rows.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/numbers.h"
#include "record/export_comparison.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;
constexpr std::int64_t piece = 20'000;

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// A text that holds a comma, a quote or a line break stands in quotes.
std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string csv_line(const MicroBatchRow& row) {
    return std::to_string(row.step) + ',' + std::to_string(row.index) + ',' + to_text(row.loss);
}

std::string csv_line(const EvaluationRow& row) {
    return std::to_string(row.step) + ',' + csv_text(row.split) + ',' + csv_text(row.metric) + ',' + to_text(row.value) + ',' +
           csv_text(row.precision) + ',' + std::to_string(row.samples);
}

std::string csv_line(const TensorStatRow& row) {
    std::string line = std::to_string(row.step) + ',' + csv_text(row.tensor) + ',' + to_string(row.role) + ',' + csv_text(row.dtype);
    for (const std::int64_t count : {row.elements, row.nan, row.pos_inf, row.neg_inf, row.zero, row.negative, row.subnormal})
        line += ',' + std::to_string(count);
    for (const double value : {row.largest, row.smallest_nonzero, row.mean, row.mean_abs, row.rms}) line += ',' + to_text(value);
    return line + ',' + (row.unmoved ? to_text(*row.unmoved) : "");
}

// Names in the order of the columns; nlohmann's ordinary object would sort them.
std::string json_object(const MicroBatchRow& row) {
    nlohmann::ordered_json json{{"step", row.step}, {"index", row.index}};
    json["loss"] = number_to_json(row.loss);
    return json.dump();
}

std::string json_object(const EvaluationRow& row) {
    nlohmann::ordered_json json{{"step", row.step}, {"split", row.split}, {"metric", row.metric}};
    json["value"] = number_to_json(row.value);
    json["precision"] = row.precision;
    json["samples"] = row.samples;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_object(const TensorStatRow& row) {
    nlohmann::ordered_json json{{"step", row.step},         {"tensor", row.tensor},   {"role", to_string(row.role)},
                                {"dtype", row.dtype},       {"elements", row.elements}, {"nan", row.nan},
                                {"pos_inf", row.pos_inf},   {"neg_inf", row.neg_inf}, {"zero", row.zero},
                                {"negative", row.negative}, {"subnormal", row.subnormal}};
    json["largest"] = number_to_json(row.largest);
    json["smallest_nonzero"] = number_to_json(row.smallest_nonzero);
    json["mean"] = number_to_json(row.mean);
    json["mean_abs"] = number_to_json(row.mean_abs);
    json["rms"] = number_to_json(row.rms);
    json["unmoved"] = row.unmoved ? nlohmann::ordered_json(number_to_json(*row.unmoved)) : nlohmann::ordered_json();
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// The key of a table's rows in the JSON of a comparison; the command line's name of it.
const char* table_name(ExportTable table) {
    switch (table) {
        case ExportTable::Steps:
            return "steps";
        case ExportTable::MicroBatches:
            return "micro_batches";
        case ExportTable::Evaluations:
            return "evaluations";
        case ExportTable::Tensors:
            return "tensors";
    }
    return "";
}

using TakeLine = std::function<bool(const std::string&)>;

Result<void> for_each_line(const std::filesystem::path& run, ExportTable table, ExportFormat format, const TakeLine& take,
                           std::int64_t rank = 0) {
    auto reader = RunReader::open(run, rank);
    if (!reader) return reader.error();
    const auto text = [format](const auto& row) { return format == ExportFormat::Csv ? csv_line(row) : json_object(row); };
    for (;;) {
        const auto rows = (*reader)->read_new(piece);
        if (!rows) return rows.error();
        if (table == ExportTable::MicroBatches)
            for (const MicroBatchRow& row : rows->micro_batches)
                if (!take(text(row))) return {};
        if (table == ExportTable::Evaluations)
            for (const EvaluationRow& row : rows->evaluations)
                if (!take(text(row))) return {};
        if (table == ExportTable::Tensors)
            for (const TensorStatRow& row : rows->tensor_stats)
                if (!take(text(row))) return {};
        if (rows->steps.size() < static_cast<std::size_t>(piece)) return {};
    }
}

Result<void> write_json_list(const std::filesystem::path& run, ExportTable table, std::ostream& out, std::int64_t rank = 0) {
    bool first = true;
    out << '[';
    auto read = for_each_line(run, table, ExportFormat::Json, [&](const std::string& object) {
        out << (std::exchange(first, false) ? "\n" : ",\n") << object;
        return out.good();
    }, rank);
    out << (first ? "]" : "\n]");
    return read;
}

Result<void> written(std::ostream& out, const std::string& what) {
    out.flush();
    if (!out) return Error{ErrorCode::InputOutput, "the export of " + what + " can't be written", ""};
    return {};
}

}  // namespace

std::string table_csv_header(ExportTable table) {
    switch (table) {
        case ExportTable::Steps:
            return step_csv_header();
        case ExportTable::MicroBatches:
            return "step,index,loss";
        case ExportTable::Evaluations:
            return "step,split,metric,value,precision,samples";
        case ExportTable::Tensors:
            return "step,tensor,role,dtype,elements,nan,pos_inf,neg_inf,zero,negative,subnormal,largest,smallest_nonzero,mean,mean_abs,"
                   "rms,unmoved";
    }
    return {};
}

Result<void> export_table(const std::filesystem::path& run_folder, ExportTable table, ExportFormat format, std::ostream& out,
                          std::int64_t rank) {
    if (table == ExportTable::Steps) return export_steps(run_folder, format, out, rank);
    if (format == ExportFormat::Csv) {
        out << table_csv_header(table) << '\n';
        const auto read = for_each_line(run_folder, table, format, [&out](const std::string& line) {
            out << line << '\n';
            return out.good();
        }, rank);
        if (!read) return read;
    } else {
        if (auto read = write_json_list(run_folder, table, out, rank); !read) return read;
        out << '\n';
    }
    return written(out, run_folder.string());
}

Result<std::vector<std::string>> export_comparison_table(const ComparisonRecord& comparison, ExportTable table,
                                                         ExportFormat format, std::ostream& out) {
    if (table == ExportTable::Steps) return export_comparison(comparison, format, out);
    const bool csv = format == ExportFormat::Csv;
    const std::string key = table_name(table);
    std::vector<std::string> missing;
    const std::size_t count = std::min(comparison.modes.size(), comparison.run_dirs.size());
    out << (csv ? "mode," + table_csv_header(table) + "\n" : "{\"comparison\": " + dumped(comparison.id) + ", \"runs\": [");
    for (std::size_t i = 0; i < count; ++i) {
        const std::filesystem::path& run = comparison.run_dirs[i];
        const std::string mode = to_string(comparison.modes[i]);
        std::error_code ignored;
        const bool is_there = std::filesystem::exists(RunFolder{run}.database(), ignored);
        if (!is_there) missing.push_back(mode);
        if (!csv)
            out << (i > 0 ? ",\n" : "\n") << "{\"mode\": \"" << mode << "\", \"run_dir\": " << dumped(run.string()) << ", \"" << key
                << "\": ";
        Result<void> read;
        if (!is_there)
            out << (csv ? "" : "null");
        else if (csv)
            read = for_each_line(run, table, format, [&](const std::string& line) {
                out << mode << ',' << line << '\n';
                return out.good();
            });
        else
            read = write_json_list(run, table, out);
        if (!read) return read.error();
        if (!csv) out << '}';
    }
    if (!csv) out << "\n]}\n";
    if (missing.size() == count)
        return Error{ErrorCode::InputOutput, "no run of the comparison " + comparison.id + " has a recording", ""};
    if (auto done = written(out, comparison.id); !done) return done.error();
    return missing;
}

}  // namespace mantissa
