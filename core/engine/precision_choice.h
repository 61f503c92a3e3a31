#pragma once
// Which precision and device an Accelerator takes: argument > environment > built-in default. A bad value from any source is an error that
// names the source.
#include <cstdint>
#include <optional>
#include <string>

#include "base/precision.h"
#include "torch_pch.h"

namespace mantissa {

struct ChosenPrecision {
    Precision precision = Precision::No;
    std::string source;  // "argument" "ACCELERATE_MIXED_PRECISION" "default"
};

/// Throws EngineError for garbage in the environment.
[[nodiscard]] ChosenPrecision choose_precision(std::optional<Precision> argument);

/// For fp8: UnsupportedPrecision on a CPU without `allow_emulated`, and on a CUDA device whose products in fp8 fail (below capability
/// 8.9). Never replaced by another mode.
void refuse_without_fp8(const ChosenPrecision& chosen, c10::Device device, bool allow_emulated);

/// Argument ("" = unset) > ACCELERATE_TORCH_DEVICE > ACCELERATE_USE_CPU > "auto".
[[nodiscard]] std::string choose_device_name(const std::string& argument);

/// Argument > ACCELERATE_GRADIENT_ACCUMULATION_STEPS > 1. (Upstream reads them the other way round: D11.)
[[nodiscard]] std::int64_t choose_accumulation_steps(std::optional<std::int64_t> argument);

/// The first call fixes the precision of this process; a later one with another is an EngineError that names both (rule 10).
void fix_process_precision(Precision precision);
/// ACCELERATE_DEBUG_MODE; unset: no.
[[nodiscard]] bool choose_debug_mode();

}  // namespace mantissa
