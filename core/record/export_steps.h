#pragma once
// A run's steps as a file: raw, one line or object a step, never decimated. CSV writes non-finite values as nan inf -inf and an
// unmeasured one as an empty field; JSON writes "NaN" "+Inf" "-Inf" and null.
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>

#include "base/result.h"
#include "record/rows.h"

namespace mantissa {

/// The columns of the CSV and the keys of the JSON, in their order: the column names of run.db's table `steps`.
[[nodiscard]] std::span<const char* const> step_column_names();
[[nodiscard]] std::string step_csv_header();  // without the end of line
[[nodiscard]] std::string step_csv_line(const StepRow& row);
[[nodiscard]] std::string step_json_object(const StepRow& row);

enum class ExportFormat { Csv, Json };

/// Streams the steps of a run; memory doesn't grow with their number.
Result<void> export_steps(const std::filesystem::path& run_folder, ExportFormat format, std::ostream& out, std::int64_t rank = 0);
/// The same into a file; it appears under its name only when it is complete.
Result<void> export_steps(const std::filesystem::path& run_folder, ExportFormat format, const std::filesystem::path& file);
/// Any export into a file that appears under its name only when `write` has written all of it.
Result<void> export_to_file(const std::filesystem::path& file, const std::function<Result<void>(std::ostream&)>& write);
/// All steps of a recording in order, in pieces; stops when `take` returns false.
Result<void> for_each_step(const std::filesystem::path& run_folder, const std::function<bool(const StepRow&)>& take,
                           std::int64_t rank = 0);

}  // namespace mantissa
