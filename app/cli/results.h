#pragma once
// Results of runs and comparisons for people (table, verdicts, decision) and as JSON (design §5).
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "record/comparison_record.h"
#include "record/replica.h"
#include "record/run_summary.h"

namespace mantissa::cli {

struct JobResult {
    std::vector<RunSummary> runs;
    std::vector<std::pair<std::filesystem::path, Error>> unreadable;  // runs of a comparison that are damaged
    std::vector<Verdict> verdicts;
    std::optional<ComparisonRecord> comparison;  // none for a single run
    std::vector<std::pair<Replica, RunSummary>> replicas;  // of the control
    std::vector<std::string> bands;                        // what they span, as sentences
    std::filesystem::path folder, report;        // report empty: there is none
    std::string language = "en";                 // of verdicts, decision and labels
};

/// From the folder alone: a comparison folder or a run folder. Of a comparison at least one run is readable.
Result<JobResult> load_result(const std::filesystem::path& job_folder, const std::string& language);

/// The last validation value in the words of all tables: "95.0 %", "loss 0.1631", or "–".
std::string metric_text(const RunSummary& run);

void print_result(const JobResult& result);
nlohmann::json to_json(const JobResult& result);

}  // namespace mantissa::cli
