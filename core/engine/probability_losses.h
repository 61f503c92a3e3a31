#pragma once
// binary_cross_entropy takes probabilities, and a sigmoid in half has lost them: 0 or 1 long before the logit is large. Torch
// refuses it under CUDA's autocast and allows it under the CPU's; here it is the same rule on both.

namespace mantissa {

/// From now on, torch's own binary_cross_entropy is refused inside autocast on CPUs, too. Once per process; the precision of a
/// process is fixed, so nothing else in it is concerned.
void refuse_probability_losses_on_cpu();
/// Throws EngineError with the form to take instead.
[[noreturn]] void refuse_probability_loss();

}  // namespace mantissa
