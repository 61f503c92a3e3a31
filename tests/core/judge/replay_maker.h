#pragma once
// Hand-made replays: gated-overflow as it comes out of its grid, to be spoilt by a test.
#include <string>

#include "judge/replay_verdict.h"

namespace mantissa::test {

[[nodiscard]] VariantReport finite_variant(const std::string& id, std::int64_t later_steps = 20);
[[nodiscard]] VariantReport bad_variant(const std::string& id, const std::string& value = "Inf");  // in the same place
[[nodiscard]] TensorReading finite_reading(double largest, const std::string& dtype = "float32");
[[nodiscard]] TensorReading inf_reading(const std::string& dtype = "float16");

/// fp16, step 144, bit for bit: gate.mul of 261 × 256 is Inf; bad at scale 1, finite and held in no, bf16 and with gate.mul in fp32.
[[nodiscard]] ReplayReport gated_replay();
[[nodiscard]] VariantReport& variant(ReplayReport& report, const std::string& id);
/// Born in loss.log of phase loss, with 0 among its operand's 64 values.
[[nodiscard]] ReplayReport log_replay(Precision mode);
[[nodiscard]] ControlHealth healthy_control();
[[nodiscard]] ControlHealth grown_control();  // loss ×6.6e12

}  // namespace mantissa::test
