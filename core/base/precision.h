#pragma once
// The four precision modes, and what a device can do with each. Requested, effective and the reason are three fields, never one.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mantissa {

enum class Precision { No, Fp16, Bf16, Fp8 };
enum class Support { Native, Emulated, Unsupported };

inline constexpr std::array<Precision, 4> all_precisions{Precision::No, Precision::Fp16, Precision::Bf16, Precision::Fp8};

[[nodiscard]] const char* to_string(Precision precision);  // "no" "fp16" "bf16" "fp8"
[[nodiscard]] const char* to_string(Support support);      // "native" "emulated" "unsupported"

/// Any case; also YAML's bare `no`/`false` as text, and quoted 'no'. Nothing else: the caller names the source in its error.
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view text);
[[nodiscard]] std::optional<Support> parse_support(std::string_view text);

struct PrecisionChoice {
    Precision requested = Precision::No;
    Precision effective = Precision::No;
    Support support = Support::Native;
    std::string reason;  // a sentence: why native, emulated or unsupported
};

/// Largest finite value of the format that carries activations in this mode (fp16 65,504; bf16 3.39e38; no: fp32's).
[[nodiscard]] double largest_finite(Precision precision);

}  // namespace mantissa
