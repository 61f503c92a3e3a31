#pragma once
// Checkpoint folders by hand, in the format that the engine writes, for tests without LibTorch.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "plan/plan_file.h"

namespace mantissa::testing {

struct MadeCheckpoint {
    std::int64_t step = 0, applied_steps = 0, epoch = 0;
    Precision mode = Precision::No;
    double scale = 65536.0;  // fp16
    std::int64_t growth_tracker = 0;
    std::string weights = "weights";
    bool has_plan = true;
    RunPlan plan = {};
};

inline nlohmann::json state_json(const MadeCheckpoint& made) {
    nlohmann::json state{{"format", "mantissa-checkpoint"},
                         {"version", 1},
                         {"program_version", "0.0.0"},
                         {"time_ns", 1'000'000'000 + made.step},
                         {"step", made.step},
                         {"applied_steps", made.applied_steps},
                         {"epoch", made.epoch},
                         {"mixed_precision", to_string(made.mode)},
                         {"loss_scale", nullptr},
                         {"gradient_accumulation_steps", 1},
                         {"files", {{{"name", "model.safetensors"}, {"bytes", made.weights.size()}, {"sha256", ""}}}}};
    if (made.mode == Precision::Fp16)
        state["loss_scale"] = {{"scale", made.scale}, {"growth_tracker", made.growth_tracker}};
    return state;
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

/// `<run>/checkpoints/checkpoint_<step>`.
inline std::filesystem::path make_checkpoint(const std::filesystem::path& run, const MadeCheckpoint& made) {
    const auto folder = run / "checkpoints" / ("checkpoint_" + std::to_string(made.step));
    std::filesystem::create_directories(folder);
    write_text(folder / "model.safetensors", made.weights);
    if (made.has_plan) {
        SourcedPlan sourced;
        sourced.plan = made.plan;
        sourced.plan.mixed_precision = made.mode;
        EXPECT_TRUE(write_plan_file(folder / "plan.json", sourced));
    }
    write_text(folder / "state.json", state_json(made).dump());
    return folder;
}

}  // namespace mantissa::testing
