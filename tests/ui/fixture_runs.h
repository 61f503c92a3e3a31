#pragma once
// Writes run folders and comparisons through the real recorder, for tests and pictures of the window: the shape of
// `gated-overflow` (fp16 settles its scale, then meets NaN at step 144; no and bf16 go on). The numbers are made up, from a seed.
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "record/run_folder.h"
#include "record/run_recorder.h"

namespace mantissa::fixture {

struct Options {
    std::int64_t steps = 240;     // attempts recorded
    std::int64_t planned = 300;
    std::optional<std::int64_t> fp16NanAt = 144;
    bool ended = false;           // end states, and the judge's verdicts and decision
    bool trialOnly = false;       // comparison.json in its trial phase, nothing recorded yet
    std::vector<Precision> modes{Precision::No, Precision::Fp16, Precision::Bf16};
    bool isFair = true;
};

struct Comparison {
    std::filesystem::path folder;
    std::vector<RunFolder> runs;
    std::vector<RunLock> locks;  // held while the comparison "runs": a free lock means that the worker was lost
};

[[nodiscard]] StepRow makeStep(Precision mode, std::int64_t step, std::int64_t startNs, const Options& options);
/// Throws std::runtime_error with the sentence when something can't be written.
[[nodiscard]] Comparison writeComparison(const std::filesystem::path& runs, const Options& options = {});
/// Meta and first states of a run, as the engine writes them.
void writeRunStart(RunRecorder& recorder, Precision mode, const Options& options, const std::string& comparisonId);

}  // namespace mantissa::fixture
