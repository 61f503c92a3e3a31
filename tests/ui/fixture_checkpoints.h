#pragma once
// Checkpoint folders in the engine's format, with real (small) weights, for tests of the window.
#include <filesystem>

#include "plan/run_plan.h"

namespace mantissa::fixture {

struct SavedState {
    std::int64_t step = 300;
    Precision mode = Precision::Fp16;
    double scale = 16384;  // fp16
    RunPlan plan = {};
};

/// `<run>/checkpoints/checkpoint_<step>`: two tensors of 6 and 2 floats. Throws std::runtime_error with the sentence.
std::filesystem::path writeCheckpoint(const std::filesystem::path& run, const SavedState& state = {});

}  // namespace mantissa::fixture
