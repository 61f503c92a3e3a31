#pragma once
// "Is my precision really on?": the article's four checks with one run's values (sources, support, loss with gradients and skips, fp8
// backend), and above them the answer with its proof: what share of the ops really ran in half. Pure; the window fills the evidence
// from what it follows, the report from a run folder.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "judge/texts.h"

namespace mantissa {

enum class CheckMark { Passed, Note, Failed, Open, NotNeeded };
[[nodiscard]] const char* to_string(CheckMark mark);  // "passed" "note" "failed" "open" "not_needed"
/// ✓ ! ✗ … –: never colour alone.
[[nodiscard]] const char* check_sign(CheckMark mark);

/// What one run shows; an empty optional or text is "not known yet".
struct PrecisionEvidence {
    Precision mode = Precision::No;
    std::optional<Precision> requested, effective;  // as the engine found them
    std::string device, device_name;
    std::optional<Support> support;
    std::string support_reason;
    RunState state = RunState::Queued;
    std::string state_reason;
    std::int64_t planned = 0, steps = 0, applied = 0, probing = 0, faults = 0;
    std::int64_t nonfinite_losses = 0, nonfinite_gradients = 0;  // gradients: outside a loss scaler
    std::optional<std::int64_t> first_nonfinite;
    std::optional<double> loss_start, loss_now, norm_start, norm_now, scale_start, scale_now;
    std::vector<OpDtypeRow> ops;  // of the watched step
    std::vector<LinearLayer> linear_layers;  // of a run in fp8
    std::optional<TrialReport> trial;
    std::string plan_json;  // with its sources
};

[[nodiscard]] PrecisionEvidence precision_evidence(const RunEvidence& run);

struct PrecisionCheck {
    std::string id;  // "sources" "support" "numbers" "fp8"
    CheckMark mark = CheckMark::Open;
    std::string title, sentence;
    std::vector<std::string> facts;
};

struct PrecisionAnswer {
    CheckMark mark = CheckMark::Open;
    std::string title, sentence;     // "Is fp16 really on?", "Yes: …"
    std::vector<std::string> facts;  // what ran in half, and what stayed in fp32
    std::vector<PrecisionCheck> checks;
};

[[nodiscard]] PrecisionAnswer precision_answer(const PrecisionEvidence& evidence, const TextCatalogue& texts);
/// The whole answer as plain text, to be copied.
[[nodiscard]] std::string to_plain_text(const PrecisionAnswer& answer);

}  // namespace mantissa
