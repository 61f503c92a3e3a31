#include "record/export_steps.h"

#include <array>
#include <fstream>
#include <ostream>
#include <system_error>

#include "base/numbers.h"
#include "record/run_reader.h"

namespace mantissa {
namespace {

constexpr std::array<const char*, 19> names{"step",
                                            "applied_step",
                                            "epoch",
                                            "time_ns",
                                            "loss",
                                            "learning_rate",
                                            "grad_norm",
                                            "loss_scale",
                                            "growth_tracker",
                                            "skipped",
                                            "skip_kind",
                                            "nonfinite_loss",
                                            "nonfinite_grads",
                                            "memory_bytes",
                                            "memory_peak_bytes",
                                            "host_memory_bytes",
                                            "samples",
                                            "data_ns",
                                            "step_ns"};

constexpr std::int64_t piece = 20'000;

/// Calls `put` with the values of a row in the order of `names`: integer, real, optional or text.
template <typename Put>
void for_each_value(const StepRow& row, Put put) {
    put(row.step);
    put(row.applied_step);
    put(row.epoch);
    put(row.time_ns);
    put(row.loss);
    put(row.learning_rate);
    put(row.grad_norm);
    put(row.loss_scale);
    put(row.growth_tracker);
    put(std::int64_t{row.skipped});
    put(to_string(row.skip_kind));
    put(std::int64_t{row.nonfinite_loss});
    put(row.nonfinite_grads);
    put(row.memory_bytes);
    put(row.memory_peak_bytes);
    put(row.host_memory_bytes);
    put(row.samples);
    put(row.data_ns);
    put(row.step_ns);
}

std::string csv_text(std::int64_t value) {
    return std::to_string(value);
}
std::string csv_text(double value) {
    return to_text(value);
}
std::string csv_text(const char* value) {
    return value;
}
template <typename T>
std::string csv_text(const std::optional<T>& value) {
    return value ? csv_text(*value) : std::string();
}

std::string json_text(std::int64_t value) {
    return std::to_string(value);
}
std::string json_text(double value) {
    if (value != value) return "\"NaN\"";
    if (value - value != 0) return value > 0 ? "\"+Inf\"" : "\"-Inf\"";
    return to_text(value);
}
std::string json_text(const char* value) {
    return '"' + std::string(value) + '"';
}
template <typename T>
std::string json_text(const std::optional<T>& value) {
    return value ? json_text(*value) : std::string("null");
}

Error write_error(const std::filesystem::path& file, int reason) {
    return {ErrorCode::InputOutput,
            file.string() + " can't be written: " + std::generic_category().message(reason),
            "choose another place"};
}

}  // namespace

std::span<const char* const> step_column_names() {
    return names;
}

std::string step_csv_header() {
    std::string line;
    for (const char* name : names) {
        if (!line.empty()) line += ',';
        line += name;
    }
    return line;
}

std::string step_csv_line(const StepRow& row) {
    std::string line;
    bool first = true;
    for_each_value(row, [&](const auto& value) {
        if (!first) line += ',';
        first = false;
        line += csv_text(value);
    });
    return line;
}

std::string step_json_object(const StepRow& row) {
    std::string object = "{";
    std::size_t column = 0;
    for_each_value(row, [&](const auto& value) {
        if (column > 0) object += ", ";
        object += '"' + std::string(names[column++]) + "\": " + json_text(value);
    });
    return object + "}";
}

Result<void> for_each_step(const std::filesystem::path& run_folder,
                           const std::function<bool(const StepRow&)>& take, std::int64_t rank) {
    auto reader = RunReader::open(run_folder, rank);
    if (!reader) return reader.error();
    for (;;) {
        const auto rows = (*reader)->read_new(piece);
        if (!rows) return rows.error();
        for (const StepRow& row : rows->steps)
            if (!take(row)) return {};
        if (rows->steps.size() < static_cast<std::size_t>(piece)) return {};
    }
}

Result<void> export_steps(const std::filesystem::path& run_folder, ExportFormat format, std::ostream& out, std::int64_t rank) {
    const bool csv = format == ExportFormat::Csv;
    bool first = true;
    const auto begin = [&] {
        if (first) out << (csv ? step_csv_header() + "\n" : std::string("["));
    };
    const auto read = for_each_step(run_folder, [&](const StepRow& row) {
        begin();
        if (csv)
            out << step_csv_line(row) << '\n';
        else
            out << (first ? "\n" : ",\n") << step_json_object(row);
        first = false;
        return out.good();
    }, rank);
    if (!read) return read;
    begin();
    if (!csv) out << (first ? "]\n" : "\n]\n");
    out.flush();
    if (!out)
        return Error{ErrorCode::InputOutput, "the export of " + run_folder.string() + " can't be written",
                     ""};
    return {};
}

Result<void> export_to_file(const std::filesystem::path& file,
                            const std::function<Result<void>(std::ostream&)>& write) {
    const std::filesystem::path part = file.string() + ".part";
    std::error_code ignored;
    {
        errno = 0;
        std::ofstream out(part, std::ios::binary | std::ios::trunc);
        if (!out) return write_error(file, errno);
        if (auto written = write(out); !written) {
            const int reason = errno;
            const bool disk = !out;
            out.close();
            std::filesystem::remove(part, ignored);
            if (disk) return write_error(file, reason);
            return written;
        }
    }
    std::error_code error;
    std::filesystem::rename(part, file, error);
    if (error) {
        std::filesystem::remove(part, ignored);
        return write_error(file, error.value());
    }
    return {};
}

Result<void> export_steps(const std::filesystem::path& run_folder, ExportFormat format,
                          const std::filesystem::path& file) {
    return export_to_file(file,
                          [&](std::ostream& out) { return export_steps(run_folder, format, out); });
}

}  // namespace mantissa
