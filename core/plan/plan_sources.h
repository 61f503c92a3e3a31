#pragma once
// Where each value of a plan came from. Layers are collected from all sources, every value is checked, also
// those that are overruled, and the strongest one wins: flag or edit > plan file or preset > ACCELERATE_*
// environment > Accelerate's default_config.yaml > built-in default.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

/// In ascending strength; Plan and Preset are one rank (there is never both), so are Flag and Edit (the later
/// layer wins). Checkpoint is the plan of a run that goes on: this machine's environment doesn't change it.
enum class ValueSource { Default, Config, Environment, Checkpoint, Plan, Preset, Flag, Edit };
[[nodiscard]] const char* to_string(
    ValueSource source);  // "default" "config" "environment" "checkpoint" "plan" "preset" "flag" "edit"
[[nodiscard]] std::optional<ValueSource> parse_value_source(std::string_view text);

/// "flag --device", "preset digits-cnn", "default": source and detail for people.
[[nodiscard]] std::string describe_source(ValueSource source, const std::string& detail);

struct OverruledValue {
    ValueSource source = ValueSource::Default;
    std::string detail;
    std::string value;
};

struct ValueOrigin {
    ValueSource source = ValueSource::Default;
    std::string detail;  // the file, variable or flag; empty for a default
    std::string value;   // as people read it: "bf16", "0.001", "no,fp16"
    std::vector<OverruledValue> overruled;
};

struct SourcedPlan {
    RunPlan plan;
    std::map<std::string, ValueOrigin> origins;  // by path; a path that is missing is a built-in default
    std::vector<std::string> notes;  // sentences: settings of other programs that have no effect here
    /// "mixed_precision bf16 (flag --mixed_precision) overrules fp16 (environment
    /// ACCELERATE_MIXED_PRECISION)", one per overruled value
    [[nodiscard]] std::vector<std::string> overruled_lines() const;
};

struct LayerValue {
    std::string path;
    std::string value_json;
    std::string detail;
};

struct PlanLayer {
    ValueSource source = ValueSource::Default;
    std::vector<LayerValue> values;
    std::vector<std::string> notes;

    /// Adds or replaces a value given as text ("64"); checks it. Errors begin with `detail` ("--set",
    /// "--device").
    Result<void> set_text(const std::string& path, std::string_view text, const std::string& detail);
    /// `--set key=value`; a group such as model=cnn sets its name.
    Result<void> set_assignment(std::string_view assignment);
};

/// Settings of a plan text (bare, or with "plan" and "sources"); `detail` names the file or preset in errors.
Result<PlanLayer> plan_text_layer(std::string_view text, ValueSource source, const std::string& detail);

/// What the plan of a checkpoint sets beside the built-in defaults, but for what belongs to its own run alone
/// (resume_from, the modes of a comparison). `detail` names the checkpoint.
Result<PlanLayer> checkpoint_layer(const RunPlan& saved, const std::string& detail);

using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] EnvironmentLookup process_environment();

/// ACCELERATE_MIXED_PRECISION, _USE_CPU, _TORCH_DEVICE, _GRADIENT_ACCUMULATION_STEPS. An empty variable
/// counts as unset. `names`: all variables ACCELERATE_* that are set; what is not taken from them becomes a
/// note or an error (plan/accelerate_variables.h).
Result<PlanLayer> environment_layer(const EnvironmentLookup& environment,
                                    const std::vector<std::string>& names = {});
/// That of this process.
Result<PlanLayer> process_environment_layer();

/// $HF_HOME/accelerate/ or ${XDG_CACHE_HOME:-~/.cache}/huggingface/accelerate/.
[[nodiscard]] std::filesystem::path accelerate_config_folder(const EnvironmentLookup& environment);
/// `--config_file`, else the default file if it is there; an explicit file that can't be read is an error.
Result<PlanLayer> accelerate_config_layer(const std::optional<std::filesystem::path>& explicit_file,
                                          const EnvironmentLookup& environment);
/// The text of such a file; `file` names it in errors, a name that ends in .json is read as JSON.
Result<PlanLayer> accelerate_config_text(std::string_view text, const std::string& file);

enum class PlanUse { Train, Compare };

struct CompareDefaults {
    std::int64_t steps = 300;  // a comparison's length unless a flag, an edit or a plan file's max_steps says otherwise
    bool is_fixed = false;     // true: exactly that many; false: at most, a shorter plan keeps its length
    std::string detail = "a comparison runs 300 steps unless told otherwise";
};

/// Merges the layers (any order), applies `compat`, and validates. In a comparison the modes replace
/// mixed_precision, whose other sources are shown as overruled.
Result<SourcedPlan> resolve_plan(const std::vector<PlanLayer>& layers, PlanUse use,
                                 const CompareDefaults& compare = {});
/// The same without the final validation: for an editor that shows issues beside the fields
/// (plan/validate.h).
Result<SourcedPlan> merge_plan(const std::vector<PlanLayer>& layers, PlanUse use,
                               const CompareDefaults& compare = {});

}  // namespace mantissa
