#pragma once
// Where a bad value was born, in words of the window's language: the sentence of the headline, and what the table of the step says of an
// op's operands and result.
#include <QString>

#include "record/replay_report.h"

namespace mantissa::ui {

/// "gate.mul made +Inf from finite inputs: 308 × 231 = 71,148 > 65,504". `limit`: largest finite value of the producer's dtype; 0: not known.
[[nodiscard]] QString birthSentence(const BirthReport& birth, double limit);
/// "308 · 231"; "+Inf" for an operand that isn't finite.
[[nodiscard]] QString operandsText(const OpReading& op);
/// The worst that it holds, else its largest magnitude.
[[nodiscard]] QString readingText(const TensorReading& reading);
/// "NaN", "+Inf", "−Inf", "±Inf"; empty when it is finite.
[[nodiscard]] QString badText(const TensorReading& reading);
/// "fp16" for float16: the names that the window uses for modes.
[[nodiscard]] QString dtypeText(const std::string& dtype);
/// Three digits and more where they say something: "71,148", "231", "0.0421", "2.5e-44".
[[nodiscard]] QString numberText(double value);

}  // namespace mantissa::ui
