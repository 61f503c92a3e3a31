#include "engine/precision_choice.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/numbers.h"
#include "engine/engine_error.h"
#include "engine/fp8_linear.h"

namespace mantissa {
namespace {

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<bool> truth(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* yes : {"y", "yes", "t", "true", "on", "1"}) {
        if (text == yes) return true;
    }
    for (const char* no : {"n", "no", "f", "false", "off", "0"}) {
        if (text == no) return false;
    }
    return std::nullopt;
}

}  // namespace

ChosenPrecision choose_precision(std::optional<Precision> argument) {
    ChosenPrecision chosen;
    if (argument) {
        chosen = {*argument, "argument"};
    } else if (const auto text = environment("ACCELERATE_MIXED_PRECISION")) {
        const auto precision = parse_precision(*text);
        if (!precision) {
            throw EngineError({ErrorCode::BadPlan,
                               "ACCELERATE_MIXED_PRECISION in the environment is '" + *text + "'",
                               "use no, fp16, bf16 or fp8"});
        }
        chosen = {*precision, "ACCELERATE_MIXED_PRECISION"};
    } else {
        chosen = {Precision::No, "default"};
    }
    return chosen;
}

void refuse_without_fp8(const ChosenPrecision& chosen, c10::Device device, bool allow_emulated) {
    if (chosen.precision != Precision::Fp8) return;
    std::string reason;
    if (device.is_cpu() && !allow_emulated) {
        reason = "has no fp8 units";
    } else if (device.is_cuda()) {
        try {
            const at::Tensor small = at::ones({fp8_multiple, fp8_multiple}, at::TensorOptions(device));
            static_cast<void>(fp8_linear(small, small, std::nullopt));
        } catch (const std::exception& error) {
            const std::string text = error.what();
            reason = "refuses a product in fp8: " + text.substr(0, text.find('\n'));
        }
    }
    if (reason.empty()) return;
    throw EngineError({ErrorCode::UnsupportedPrecision,
                       "fp8 (from the " + chosen.source + ") can't be used: " + device.str() + " " + reason,
                       std::string("choose bf16, fp16 or no") +
                           (device.is_cpu() ? ", or set allow_emulated: slow, and only its numbers count" : "") +
                           "; it is never replaced in silence"});
}

std::string choose_device_name(const std::string& argument) {
    if (!argument.empty()) {
        return argument;
    }
    if (const auto device = environment("ACCELERATE_TORCH_DEVICE")) {
        return *device;
    }
    if (const auto text = environment("ACCELERATE_USE_CPU")) {
        const auto use_cpu = truth(*text);
        if (!use_cpu) {
            throw EngineError({ErrorCode::BadPlan, "ACCELERATE_USE_CPU in the environment is '" + *text + "'",
                               "use true or false"});
        }
        if (*use_cpu) {
            return "cpu";
        }
    }
    return "auto";
}

std::int64_t choose_accumulation_steps(std::optional<std::int64_t> argument) {
    std::string source = "gradient_accumulation_steps";
    std::optional<std::int64_t> steps = argument;
    std::string text = argument ? std::to_string(*argument) : "";
    if (!argument) {
        const auto value = environment("ACCELERATE_GRADIENT_ACCUMULATION_STEPS");
        if (!value) {
            return 1;
        }
        source = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS in the environment";
        text = *value;
        steps = parse_int(*value);
    }
    if (!steps || *steps < 1) {
        throw EngineError({ErrorCode::BadPlan, source + " is '" + text + "'", "use a whole number from 1 up"});
    }
    return *steps;
}

bool choose_debug_mode() {
    const auto text = environment("ACCELERATE_DEBUG_MODE");
    if (!text) return false;
    const auto on = truth(*text);
    if (!on) {
        throw EngineError({ErrorCode::BadPlan, "ACCELERATE_DEBUG_MODE in the environment is '" + *text + "'", "use true or false"});
    }
    return *on;
}

void fix_process_precision(Precision precision) {
    static std::mutex mutex;
    static std::optional<Precision> fixed;  // protected by mutex
    const std::lock_guard lock(mutex);
    if (fixed && *fixed != precision) {
        throw EngineError({ErrorCode::UnsupportedPrecision,
                           std::string("this process trains in ") + to_string(*fixed) + ", so an Accelerator in " +
                               to_string(precision) + " can't be made in it",
                           "start a fresh process for each mode"});
    }
    fixed = precision;
}

}  // namespace mantissa
