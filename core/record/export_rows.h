#pragma once
// The other tables of a recording as files: losses of the micro-batches, evaluations, records of tensors without their histograms. Raw,
// in the forms of export_steps.h.
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/comparison_record.h"
#include "record/export_steps.h"

namespace mantissa {

enum class ExportTable { Steps, MicroBatches, Evaluations, Tensors };

/// The columns of a table, in their order: those of run.db.
[[nodiscard]] std::string table_csv_header(ExportTable table);
/// One run, or what one of its ranks recorded: a CSV with a header, or a JSON list of objects.
Result<void> export_table(const std::filesystem::path& run_folder, ExportTable table, ExportFormat format, std::ostream& out,
                          std::int64_t rank = 0);
/// A comparison: a first column "mode" in CSV, one object a run in JSON. Modes without a recording are returned.
Result<std::vector<std::string>> export_comparison_table(const ComparisonRecord& comparison, ExportTable table,
                                                         ExportFormat format, std::ostream& out);

}  // namespace mantissa
