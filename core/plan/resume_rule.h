#pragma once
// What happens to the loss-scale state when a checkpoint of one mode goes on in another. One rule for the engine, the command line
// and the window; the sentences are in resources/texts.
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/precision.h"

namespace mantissa {

enum class ResumedScale {
    None,          // neither mode has a loss scale
    TakenUp,       // fp16 → fp16: scale and growth tracker go on
    StartsAnew,    // → fp16 from a mode without one: the plan's initial scale, told
    Dropped        // fp16 → a mode without one: told
};

inline constexpr std::array<std::pair<ResumedScale, const char*>, 4> resumed_scale_names{
    {{ResumedScale::None, "none"},
     {ResumedScale::TakenUp, "taken_up"},
     {ResumedScale::StartsAnew, "starts_anew"},
     {ResumedScale::Dropped, "dropped"}}};

[[nodiscard]] constexpr const char* to_string(ResumedScale scale) {
    for (const auto& [value, name] : resumed_scale_names)
        if (value == scale) return name;
    return "";
}

[[nodiscard]] constexpr std::optional<ResumedScale> parse_resumed_scale(std::string_view text) {
    for (const auto& [value, name] : resumed_scale_names)
        if (text == name) return value;
    return std::nullopt;
}

[[nodiscard]] constexpr ResumedScale resumed_scale(Precision saved, Precision now) {
    const bool had = saved == Precision::Fp16, has = now == Precision::Fp16;
    if (had && has) return ResumedScale::TakenUp;
    if (has) return ResumedScale::StartsAnew;
    return had ? ResumedScale::Dropped : ResumedScale::None;
}

}  // namespace mantissa
