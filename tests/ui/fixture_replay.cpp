#include "tests/ui/fixture_replay.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/files.h"

namespace mantissa::fixture {
namespace {

void check(const Result<void>& result) {
    if (!result) {
        throw std::runtime_error(describe(result.error()));
    }
}

TensorReading reading(const char* dtype, std::vector<std::int64_t> shape, double largest, std::int64_t posInf = 0) {
    TensorReading one;
    one.dtype = dtype;
    one.shape = std::move(shape);
    std::int64_t elements = 1;
    for (const std::int64_t size : one.shape) {
        elements *= size;
    }
    one.pos_inf = posInf;
    one.negative = elements / 3;
    one.zero = elements / 4;
    one.positive = elements - one.negative - one.zero - posInf;
    one.largest = largest;
    one.smallest_nonzero = 0.0012;
    return one;
}

OpReading op(std::int64_t index, const char* module, const char* name, std::vector<TensorReading> operands, TensorReading result) {
    OpReading one;
    one.index = index;
    one.phase = "forward";
    one.module = module;
    one.op = one.kernel = name;
    one.operands = std::move(operands);
    one.result = std::move(result);
    return one;
}

std::vector<StepValue> grown() {
    std::vector<StepValue> values;
    for (std::int64_t step = 0; step < badStep; ++step) {
        const double t = static_cast<double>(step);
        values.push_back({step, std::round(120 + 62'000 * (1 - std::exp(-t / 22)) * (1 + 0.02 * std::sin(t / 3)))});
    }
    return values;
}

VariantReport variant(const char* id, Precision mode, bool isFinite, std::optional<std::int64_t> badAt) {
    VariantReport one;
    one.id = id;
    one.mode = mode;
    one.from_step = badStep;
    one.state = "done";
    one.this_step_finite = isFinite;
    one.value = isFinite ? "" : "Inf";
    one.same_place = !isFinite;
    one.place = isFinite ? "" : "gate.mul";
    one.later_steps = isFinite ? 20 : 0;
    one.later_bad_at = badAt;
    if (isFinite) {
        one.loss = 0.081;
        one.later_loss = 0.064;
    }
    one.seconds = 1.2;
    return one;
}

std::vector<VariantReport> grid() {
    std::vector<VariantReport> all{variant("as_was", Precision::Fp16, false, {}),  variant("no", Precision::No, true, {}),
                                   variant("scale_1", Precision::Fp16, false, {}), variant("bf16", Precision::Bf16, true, {}),
                                   variant("island", Precision::Fp16, true, {}),   variant("previous_batch", Precision::Fp16, true, 2),
                                   variant("half_rate", Precision::Fp16, true, {})};
    all[4].island = "gate.mul";
    all[6].from_step = 50;
    return all;
}

}  // namespace

BirthReport gateBirth() {
    BirthReport birth;
    birth.code = "activation_overflow";
    const TensorReading left = reading("float16", {32, 256}, 308), right = reading("float16", {32, 256}, 231);
    birth.producer = op(14, "gate", "mul", {left, right}, reading("float16", {32, 256}, 64'900, 3));
    birth.producer.is_birth = true;
    birth.before = {op(9, "gate.a", "linear", {reading("float16", {32, 64}, 1893)}, left), op(12, "gate.b", "relu", {reading("float16", {32, 256}, 231)}, right)};
    birth.after = {op(15, "out", "linear", {reading("float16", {32, 256}, 64'900, 3)}, reading("float16", {32, 64}, 0, 96))};
    birth.carried = 213;
    birth.sample = 11;
    return birth;
}

IncidentReport gateIncident() {
    IncidentReport report;
    report.step = badStep;
    report.mode = Precision::Fp16;
    report.kind = "activation_overflow";
    report.severity = "error";
    report.loss = std::numeric_limits<double>::quiet_NaN();
    report.loss_scale = 16384;
    report.birth = gateBirth();
    report.watched = {{"gate.mul", "output", grown()}};
    report.states = {"state_50", "state_65"};
    report.state_bytes = 2'400'000;
    return report;
}

ReplayReport gateReplay(const std::filesystem::path& run, std::size_t done) {
    ReplayReport report;
    report.run_dir = run.string();
    report.step = badStep;
    report.mode = Precision::Fp16;
    report.reproduced = Reproduced::Bits;
    report.birth = gateBirth();
    report.ops = {report.birth->before[0], report.birth->before[1], report.birth->producer, report.birth->after[0]};
    report.limit = 65'504;
    report.producer_largest = grown();
    report.one_bit_left_step = 17;
    report.variants = grid();
    for (std::size_t i = done; i < report.variants.size(); ++i) {
        VariantReport open;
        open.id = report.variants[i].id;
        open.mode = report.variants[i].mode;
        open.island = report.variants[i].island;
        open.from_step = report.variants[i].from_step;
        open.state = i == done ? "running" : "waiting";
        report.variants[i] = open;
    }
    const bool isDone = done >= report.variants.size();
    report.state = isDone ? "done" : "running";
    report.best = isDone ? "island" : "";
    report.start_step = 50;
    report.seconds = 8.4;
    return report;
}

void writeIncident(const std::filesystem::path& run, const IncidentReport& report) {
    check(make_folders(incident_folder(run, report.step)));
    check(write_incident(incident_folder(run, report.step), report));
}

void writeReplay(const std::filesystem::path& run, const ReplayReport& report) {
    check(make_folders(incident_folder(run, report.step)));
    check(write_replay(incident_folder(run, report.step), report));
}

}  // namespace mantissa::fixture
