#pragma once
// comparison.json of RUNS/comparisons/<id>/: plan, run folders, hashes, fairness, verdicts, decision. Rewritten by rename.
// The same Verdict and Decision are kept for a single run in RUN/verdicts.json.
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "record/reports.h"

namespace mantissa {

struct Verdict {
    std::string code;      // design §7, e.g. "scale_probing"
    std::string severity;  // ok note warning error
    std::string mode;      // the run it speaks of; empty = the comparison
    std::map<std::string, std::string> values;  // fill the placeholders of resources/texts
    std::vector<std::string> evidence;          // short facts with numbers: "fp16: 15 skips in steps 0–14"
    std::string text;                           // filled in the language asked for; rebuilt from code + values by readers
};

struct Decision {
    std::optional<Precision> mode;  // empty: not decidable
    std::string code;               // names the sentence in the text catalogue, e.g. "decision_keep_no"
    std::map<std::string, std::string> values;
    std::string text;               // the headline
    std::vector<std::string> reasons;
    std::string confidence = "low";  // low medium high
    std::vector<std::string> would_change_it;
};

struct Fairness {
    bool known = false;  // false until all runs have written environment.json
    bool fair = false;
    std::vector<std::string> differences;  // sentences: "sample order differs between no and fp16"
};

/// All modes have ended, and the control is run again to learn its own spread (record/replica.h).
struct Repeating {
    std::int64_t at = 0, planned = 0;  // the replica that runs, from 1, of so many
    bool operator==(const Repeating&) const = default;
};

struct ComparisonRecord {
    std::string id;
    std::string name;
    std::int64_t started_ns = 0, ended_ns = 0;
    std::string state;             // "trial" "running" "repeating" "finished" "stopped" "interrupted" "failed"
    std::optional<Repeating> repeating;  // while the state is "repeating"
    std::string order = "turns";   // turns one-by-one at-once, as really used
    std::string order_reason;      // when it isn't what was asked for
    std::string plan_json;         // effective plan with sources
    std::vector<Precision> modes;
    std::vector<TrialReport> trials;
    std::vector<std::filesystem::path> run_dirs;  // in the order of modes
    Fairness fairness;
    std::vector<Verdict> verdicts;
    std::optional<Decision> decision;
};

[[nodiscard]] bool has_ended(const ComparisonRecord& record);
/// The state; with its count while the control is repeated: "repeating 2 of 3".
[[nodiscard]] std::string state_text(const ComparisonRecord& record);

[[nodiscard]] std::filesystem::path comparison_folder(const std::filesystem::path& runs, const std::string& id);
/// Makes RUNS/comparisons/<time>-<name>/, unique, and returns its id.
Result<std::string> create_comparison_folder(const std::filesystem::path& runs, const std::string& name);
Result<ComparisonRecord> read_comparison(const std::filesystem::path& folder);
/// Fields in a comparison.json that this version doesn't know are kept.
Result<void> write_comparison(const std::filesystem::path& folder, const ComparisonRecord& record);
nlohmann::json to_json(const Verdict& verdict);
nlohmann::json to_json(const Decision& decision);
Result<Verdict> verdict_from_json(const nlohmann::json& json);
Result<Decision> decision_from_json(const nlohmann::json& json);

}  // namespace mantissa
