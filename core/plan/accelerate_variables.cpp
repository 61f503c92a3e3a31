// Names: accelerate 1.15 (state.py, accelerator.py, logging.py, utils/launch.py, utils/dataclasses.py).
#include "plan/accelerate_variables.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "plan/accelerate_words.h"
#include "plan/nearest.h"

namespace mantissa {
namespace {

enum class Meaning {
    Taken,     // elsewhere: a setting of the plan, or the level of the log
    NoEffect,  // harmless when off; on, it is said that it does nothing
    AsksFor,   // a switch to another kind of training: refused when on
    Belongs    // a detail of such a kind: says nothing alone
};

struct KnownVariable {
    const char* name;  // behind ACCELERATE_; a trailing _ stands for a family
    Meaning meaning;
    const char* why;
};

constexpr std::array<KnownVariable, 27> known{{
    {"MIXED_PRECISION", Meaning::Taken, ""},
    {"GRADIENT_ACCUMULATION_STEPS", Meaning::Taken, ""},
    {"USE_CPU", Meaning::Taken, ""},
    {"TORCH_DEVICE", Meaning::Taken, ""},
    {"LOG_LEVEL", Meaning::Taken, ""},
    {"DEBUG_MODE", Meaning::NoEffect, "it compares shapes between processes, and this is one process"},
    {"DEBUG_RDV_FILE", Meaning::NoEffect, "it is where several processes meet, and this is one process"},
    {"NUM_PROCESSES", Meaning::NoEffect, "--num_processes says how many processes train together"},
    {"CPU_AFFINITY", Meaning::NoEffect, "processes are not bound to processors"},
    {"ENABLE_RICH", Meaning::NoEffect, "it formats Python's error messages"},
    {"BYPASS_DEVICE_MAP", Meaning::NoEffect, "models are not spread over devices"},
    {"INIT_INCLUDE_BUFFERS", Meaning::NoEffect, "models are not initialised empty"},
    {"GRADIENT_CLIPPING", Meaning::NoEffect, "only DeepSpeed reads it; use training.clip_grad_norm"},
    {"CONFIG_DS_FIELDS", Meaning::NoEffect, "only DeepSpeed reads it"},
    {"DOWNCAST_BF16", Meaning::NoEffect, "it belongs to TPUs"},
    {"ALLOW_CP_STANDALONE", Meaning::NoEffect, "there is no context parallelism"},
    {"IN_TPU_POD", Meaning::NoEffect, "there are no TPUs"},
    {"FP8_", Meaning::NoEffect, "fp8 has no settings in this version"},
    {"USE_DEEPSPEED", Meaning::AsksFor, "DeepSpeed"},
    {"USE_FSDP", Meaning::AsksFor, "fully sharded data parallel training"},
    {"USE_MEGATRON_LM", Meaning::AsksFor, "Megatron-LM"},
    {"USE_PARALLELISM_CONFIG", Meaning::AsksFor, "a parallelism configuration"},
    {"USE_SAGEMAKER", Meaning::AsksFor, "SageMaker"},
    {"DEEPSPEED_", Meaning::Belongs, ""},
    {"SAGEMAKER_", Meaning::Belongs, ""},
    {"DYNAMO_BACKEND", Meaning::AsksFor, "compilation by TorchDynamo"},
    {"DYNAMO_", Meaning::Belongs, ""},
}};

constexpr std::string_view prefix = "ACCELERATE_";

const KnownVariable* find_variable(std::string_view name) {
    name.remove_prefix(prefix.size());
    for (const KnownVariable& one : known) {
        const std::string_view known_name = one.name;
        if (name == known_name || (known_name.ends_with('_') && name.starts_with(known_name))) return &one;
    }
    return nullptr;
}

std::string unknown_variable(const std::string& name) {
    std::vector<std::string> names;
    for (const KnownVariable& one : known)
        if (!std::string_view(one.name).ends_with('_')) names.push_back(std::string(prefix) + one.name);
    const auto near = nearest_names(name, names, 1);
    return name + " is no variable of Accelerate and has no effect" + (near.empty() ? "" : "; did you mean " + near.front() + "?");
}

bool asks_for_nothing(const std::string& name, const std::string& value) {
    if (parse_accelerate_switch(value) == false) return true;
    std::string upper(value);
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name == "ACCELERATE_DYNAMO_BACKEND" && upper == "NO";
}

}  // namespace

std::vector<std::string> process_accelerate_variables() {
    std::vector<std::string> names;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::vector<std::string>> notes_on_accelerate_variables(const std::vector<std::string>& names,
                                                               const EnvironmentLookup& environment) {
    std::vector<std::string> notes;
    for (const std::string& name : names) {
        if (!name.starts_with(prefix)) continue;
        const std::string value = environment(name).value_or("");
        const KnownVariable* variable = find_variable(name);
        if (variable == nullptr) {
            notes.push_back(unknown_variable(name));
            continue;
        }
        if (value.empty() || asks_for_nothing(name, value)) continue;
        if (variable->meaning == Meaning::NoEffect) notes.push_back(name + " has no effect: " + variable->why);
        if (variable->meaning == Meaning::AsksFor)
            return Error{ErrorCode::NotBuilt, name + " is \"" + value.substr(0, 60) + "\": " + variable->why + " is not built",
                         "unset the variable; data, model and precision stay as they are"};
    }
    return notes;
}

}  // namespace mantissa
