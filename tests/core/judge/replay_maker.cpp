#include "replay_maker.h"

#include <algorithm>

#include "base/assert.h"

namespace mantissa::test {

VariantReport finite_variant(const std::string& id, std::int64_t later_steps) {
    VariantReport one;
    one.id = id;
    one.state = "done";
    one.this_step_finite = true;
    one.later_steps = later_steps;
    return one;
}

VariantReport bad_variant(const std::string& id, const std::string& value) {
    VariantReport one;
    one.id = id;
    one.state = "done";
    one.this_step_finite = false;
    one.value = value;
    one.same_place = true;
    return one;
}

TensorReading finite_reading(double largest, const std::string& dtype) {
    TensorReading reading;
    reading.dtype = dtype;
    reading.shape = {64};
    reading.positive = 64;
    reading.largest = largest;
    reading.smallest_nonzero = 1e-3;
    return reading;
}

TensorReading inf_reading(const std::string& dtype) {
    TensorReading reading = finite_reading(6e4, dtype);
    reading.positive = 63;
    reading.pos_inf = 1;
    return reading;
}

ReplayReport gated_replay() {
    ReplayReport report;
    report.step = 144;
    report.mode = Precision::Fp16;
    report.state = "done";
    report.reproduced = Reproduced::Bits;
    report.start_step = 94;
    report.limit = 65504;
    report.one_bit_left_step = 38;
    BirthReport birth;
    birth.code = "activation_overflow";
    birth.producer = {12, "forward", "gate", "mul", "mul", {finite_reading(261, "float16"), finite_reading(256, "float16")}, {},
                      inf_reading(), true};
    report.birth = birth;
    report.variants = {bad_variant("as_was"), finite_variant("no"),     bad_variant("scale_1"), finite_variant("bf16"),
                       finite_variant("island"), bad_variant("previous_batch"), finite_variant("half_rate")};
    variant(report, "island").island = "gate.mul";
    variant(report, "half_rate").from_step = 94;
    return report;
}

VariantReport& variant(ReplayReport& report, const std::string& id) {
    const auto found = std::find_if(report.variants.begin(), report.variants.end(), [&](const auto& one) { return one.id == id; });
    MANTISSA_ASSERT(found != report.variants.end());
    return *found;
}

ReplayReport log_replay(Precision mode) {
    ReplayReport report = gated_replay();
    report.mode = mode;
    report.step = 4;
    BirthReport& birth = *report.birth;
    birth.code = "log_of_zero";
    TensorReading operand = finite_reading(1);
    operand.positive = 63;
    operand.zero = 1;
    birth.producer = {30, "loss", "loss", "log", "log", {operand}, {}, inf_reading("float32"), true};
    birth.sample = 43;
    report.variants = {bad_variant("as_was"), bad_variant("no"), bad_variant("scale_1"), bad_variant("bf16"), bad_variant("half_rate")};
    return report;
}

ControlHealth healthy_control() {
    ControlHealth health;
    health.steps = 145;
    health.loss_growth = 0.2;
    health.norm_growth = 1.1;
    return health;
}

ControlHealth grown_control() {
    ControlHealth health = healthy_control();
    health.loss_growth = 6.6e12;
    return health;
}

}  // namespace mantissa::test
