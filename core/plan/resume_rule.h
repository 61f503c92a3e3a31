#pragma once
// What happens to the loss-scale state when a checkpoint of one mode goes on in another. One rule for the engine, the command line
// and the window; the sentences are in resources/texts.
#include "base/precision.h"

namespace mantissa {

enum class ResumedScale {
    None,          // neither mode has a loss scale
    TakenUp,       // fp16 → fp16: scale and growth tracker go on
    StartsAnew,    // → fp16 from a mode without one: the plan's initial scale, told
    Dropped        // fp16 → a mode without one: told
};

[[nodiscard]] constexpr ResumedScale resumed_scale(Precision saved, Precision now) {
    const bool had = saved == Precision::Fp16, has = now == Precision::Fp16;
    if (had && has) return ResumedScale::TakenUp;
    if (has) return ResumedScale::StartsAnew;
    return had ? ResumedScale::Dropped : ResumedScale::None;
}

}  // namespace mantissa
