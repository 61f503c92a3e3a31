#include "tests/ui/fixture_checkpoints.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/files.h"
#include "formats/safetensors.h"
#include "plan/plan_file.h"

namespace mantissa::fixture {
namespace {

void check(const Result<void>& result) {
    if (!result) {
        throw std::runtime_error(describe(result.error()));
    }
}

}  // namespace

std::filesystem::path writeCheckpoint(const std::filesystem::path& run, const SavedState& state) {
    const auto folder = run / "checkpoints" / ("checkpoint_" + std::to_string(state.step));
    check(make_folders(folder));
    SafeTensors weights;
    weights["layer.weight"] = {TensorType::F32, {2, 3}, std::vector<std::byte>(24)};
    weights["layer.bias"] = {TensorType::F32, {2}, std::vector<std::byte>(8)};
    check(write_safetensors(folder / "model.safetensors", weights));
    SourcedPlan sourced;
    sourced.plan = state.plan;
    sourced.plan.mixed_precision = state.mode;
    check(write_plan_file(folder / "plan.json", sourced));
    nlohmann::json json{{"format", "mantissa-checkpoint"},
                        {"version", 1},
                        {"program_version", "0.1.0"},
                        {"time_ns", 1'700'000'000'000'000'000 + state.step},
                        {"step", state.step},
                        {"applied_steps", state.step},
                        {"epoch", 1},
                        {"mixed_precision", to_string(state.mode)},
                        {"loss_scale", nullptr},
                        {"gradient_accumulation_steps", 1},
                        {"files", {{{"name", "model.safetensors"},
                                    {"bytes", std::filesystem::file_size(folder / "model.safetensors")},
                                    {"sha256", ""}}}}};
    if (state.mode == Precision::Fp16) {
        json["loss_scale"] = {{"scale", state.scale}, {"growth_tracker", 7}};
    }
    check(write_file_atomically(folder / "state.json", json.dump()));
    return folder;
}

}  // namespace mantissa::fixture
