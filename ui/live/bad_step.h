#pragma once
// The first step of a run that can be looked at: where a value stopped being finite, or an output did while the loss was still finite.
#include <QString>
#include <filesystem>
#include <optional>

#include "ui/bridge/run_follower.h"

namespace mantissa::ui {

struct BadStep {
    std::filesystem::path run;
    Precision mode = Precision::No;
    std::int64_t step = 0;
    bool hasStopped = false;  // the run ended there
    bool operator==(const BadStep&) const = default;
};

[[nodiscard]] std::optional<BadStep> badStepOf(const RunFollower& run);
/// "Why did fp16 stop?"
[[nodiscard]] QString questionOf(const BadStep& bad);

}  // namespace mantissa::ui
