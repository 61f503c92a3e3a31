#pragma once
// All runs of a comparison as one file. CSV: the columns of export_steps.h after a first column `mode`. JSON: an object
// {"comparison", "runs": [{"mode", "run_dir", "steps": […]}]}; the steps are those of export_steps.h.
#include <iosfwd>
#include <string>
#include <vector>

#include "record/comparison_record.h"
#include "record/export_steps.h"

namespace mantissa {

/// Returns the modes that have no recording (a run that never began): no rows in CSV, `"steps": null` in JSON. When no run
/// has one, that is the error.
Result<std::vector<std::string>> export_comparison(const ComparisonRecord& comparison, ExportFormat format, std::ostream& out);

}  // namespace mantissa
