#pragma once
#include "engine/step_facts.h"
#include "record/rows.h"

namespace mantissa {

/// What an attempt says of itself, as a row at this moment; epoch, samples, memory and times are its caller's.
[[nodiscard]] StepRow step_row(const StepFacts& facts);

}  // namespace mantissa
