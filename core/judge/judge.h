#pragma once
// Entry points of the judge: what is said about recordings, from run folders alone, so that it works on last
// year's run and without torch.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/evidence.h"
#include "record/comparison_record.h"

namespace mantissa {

struct JudgedRun {
    RunSummary summary;
    std::vector<Verdict> verdicts;  // in the article's order
};

/// A single run, beside those of its comparison if it has one. Without a control, a non-finite run is "cause
/// open".
Result<JudgedRun> judge_run(const std::filesystem::path& run_folder, std::string_view language);
/// Reads comparison.json and all its run folders, and fills fairness and verdicts; the decision once every
/// run has ended. The caller writes the record.
Result<ComparisonRecord> judge_comparison(const std::filesystem::path& comparison_folder,
                                          std::string_view language);
/// The same from evidence at hand; `record` gives plan, order and folders.
Result<ComparisonRecord> judge_evidence(ComparisonRecord record, const ComparisonEvidence& evidence,
                                        std::string_view language);
/// RUN/verdicts.json, rewritten by rename.
Result<void> write_verdicts(const std::filesystem::path& run_folder, const std::vector<Verdict>& verdicts);
Result<std::vector<Verdict>> read_verdicts(const std::filesystem::path& run_folder);

}  // namespace mantissa
