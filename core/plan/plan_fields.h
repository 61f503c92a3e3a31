#pragma once
// The one table of a plan's settings: path, kind, what is allowed, and how to read and write the value. JSON,
// --set, sources, `mantissa models` and the Set up page all work from it, so that a new setting is one member
// and one line.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

enum class FieldKind { Text, Choice, Integer, Number, Switch, Modes, TextList };

struct FieldLimits {
    double minimum = 0, maximum = 0;
    bool above_minimum = false;  // the minimum itself is not allowed
    bool below_maximum = false;
};

struct PlanField {
    std::string path;  // "training.batch_size"
    FieldKind kind = FieldKind::Text;
    bool is_optional = false;          // null means: not set
    FieldLimits limits;                // of Integer and Number
    std::vector<std::string> choices;  // of Choice and Modes
    std::string about;                 // half a sentence for people

    nlohmann::json (*get)(const RunPlan& plan);
    /// Type, choice and bounds are checked; the error names the path, the value and what is allowed.
    Result<void> (*set)(const PlanField& field, RunPlan& plan, const nlohmann::json& value);
};

[[nodiscard]] const std::vector<PlanField>& plan_fields();
[[nodiscard]] const PlanField* find_plan_field(std::string_view path);
[[nodiscard]] std::vector<std::string> plan_field_paths();

/// "use a whole number from 1 to 1000000": what the field takes, as a hint.
[[nodiscard]] std::string allowed_values(const PlanField& field);
/// Objects that a plain id may stand for: model, dataset, training.optimizer, training.scheduler (path of
/// their name, else empty).
[[nodiscard]] std::string name_path_of_object(std::string_view path);
/// The form of a device's name; whether it is there is the probe's answer. Other backends' names are
/// UnsupportedDevice.
Result<void> check_device_name(const std::string& device);
/// Error for a path that isn't in the table, with the nearest that are.
[[nodiscard]] Error unknown_field(std::string_view path);

/// A value as people write it on a command line ("64", "no,fp16", "null") for this field.
[[nodiscard]] nlohmann::json value_from_text(const PlanField& field, std::string_view text);
/// The value as people read it: texts without quotes, lists with commas, "not set" for null.
[[nodiscard]] std::string value_to_text(const nlohmann::json& value);
[[nodiscard]] std::string field_text(const PlanField& field, const RunPlan& plan);

}  // namespace mantissa
