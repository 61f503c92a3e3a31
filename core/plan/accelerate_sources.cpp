// ACCELERATE_* variables of the environment (accelerate 1.15: Accelerator.__init__, utils/environment.py
// str_to_bool).
#include <cstdlib>

#include <algorithm>
#include <array>
#include <cctype>

#include "plan/accelerate_variables.h"
#include "plan/accelerate_words.h"
#include "plan/plan_sources.h"

namespace mantissa {

std::optional<bool> parse_accelerate_switch(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* word : {"y", "yes", "t", "true", "on", "1"})
        if (lower == word) return true;
    for (const char* word : {"n", "no", "f", "false", "off", "0"})
        if (lower == word) return false;
    return std::nullopt;
}

EnvironmentLookup process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        if (!value) return std::nullopt;
        return std::string(value);
    };
}

Result<PlanLayer> process_environment_layer() {
    return environment_layer(process_environment(), process_accelerate_variables());
}

Result<PlanLayer> environment_layer(const EnvironmentLookup& environment,
                                    const std::vector<std::string>& names) {
    PlanLayer layer{ValueSource::Environment, {}, {}};
    auto notes = notes_on_accelerate_variables(names, environment);
    if (!notes) return notes.error();
    layer.notes = std::move(*notes);
    const auto read = [&environment](const char* name) {
        auto value = environment(name);
        return value && value->empty() ? std::nullopt : value;
    };
    if (const auto value = read("ACCELERATE_MIXED_PRECISION"))
        if (auto set = layer.set_text("mixed_precision", *value, "ACCELERATE_MIXED_PRECISION"); !set)
            return set.error();
    if (const auto value = read("ACCELERATE_GRADIENT_ACCUMULATION_STEPS"))
        if (auto set = layer.set_text("training.gradient_accumulation_steps", *value,
                                      "ACCELERATE_GRADIENT_ACCUMULATION_STEPS");
            !set)
            return set.error();
    if (const auto value = read("ACCELERATE_USE_CPU")) {
        const auto use = parse_accelerate_switch(*value);
        if (!use)
            return Error{ErrorCode::BadPlan,
                         "ACCELERATE_USE_CPU: \"" + *value + "\" is neither true nor false",
                         "use one of: y, yes, t, true, on, 1, n, no, f, false, off, 0"};
        if (*use)
            if (auto set = layer.set_text("device", "cpu", "ACCELERATE_USE_CPU"); !set) return set.error();
    }
    if (const auto value = read("ACCELERATE_TORCH_DEVICE")) {
        // As upstream, the named device wins over USE_CPU; both are kept, so that the loser is shown.
        PlanLayer named{ValueSource::Environment, {}, {}};
        if (auto set = named.set_text("device", *value, "ACCELERATE_TORCH_DEVICE"); !set) return set.error();
        layer.values.push_back(named.values.front());
    }
    return layer;
}

}  // namespace mantissa
