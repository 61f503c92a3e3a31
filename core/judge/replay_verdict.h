#pragma once
// What a replay and its grid of variants say: one verdict, and the variant that is advised. A cause is named only as far as the grid
// supports it; else it is cause_open or unknown, with the cheapest next experiment. Pure, apart from load_replay_facts(). The text is
// in replay.json of the catalogue (value told_by = replay, so that verdict_text() finds it again in another language).
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "judge/control_health.h"
#include "judge/finding.h"
#include "record/replay_report.h"

namespace mantissa {

/// What the recordings know beside the report; an empty optional is "not known".
struct ReplayFacts {
    std::optional<ControlHealth> control = {};  // up to the step: of the recorded control, or of the run itself in mode `no`
    std::optional<double> learning_rate = {};   // of the plan
    std::optional<double> loss_scale = {};      // as used in the step
};

/// From the run's folder and its control's; never fails.
[[nodiscard]] ReplayFacts load_replay_facts(const ReplayReport& report);

struct ReplayFinding {
    Finding finding;  // code, severity, mode, values
    /// The named cause: that of `finding`, but what lies at the heart of it where the code is not_precision (log_of_zero
    /// zero_over_zero inf_minus_inf root_at_zero masked_row bad_input activation_overflow); empty when it isn't known. Also in the
    /// verdict's values, as "cause".
    std::string cause;
    std::string confidence;  // low medium high; also in the verdict's values
    std::string best;        // id of the variant that is advised; empty: none, or no change of precision helps
};

/// Call it when the variants are done, stopped or failed: a variant that isn't done is not evidence. Empty for a "what if" of a healthy
/// step, which asks for no cause.
[[nodiscard]] std::optional<ReplayFinding> judge_replay(const ReplayReport& report, const ReplayFacts& facts = {});

/// Sets `verdict` and `best` of the report, with its sentences and the grid as evidence, in this language ("en", "zh", as --lang).
Result<void> give_verdict(ReplayReport& report, const ReplayFacts& facts, std::string_view language = {});

}  // namespace mantissa
