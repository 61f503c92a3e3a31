#include "fixture_tensors.h"

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "record/exponent_histogram.h"

namespace mantissa::fixture {
namespace {

std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

ExponentHistogram histogramOf(std::span<const float> values) {
    return histogram_of(std::vector<double>(values.begin(), values.end()));
}

/// To the eleven bits of fp16's significand, or bf16's eight; the range stays that of float32, like the values below.
float rounded(float value, const std::string& dtype) {
    const std::uint32_t dropped = dtype == "float16" ? 13 : dtype == "bfloat16" ? 16 : 0;
    const std::uint32_t mask = (std::uint32_t{1} << dropped) - 1;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~mask);
}

std::vector<float> output(const std::string& dtype, double size, std::uint64_t seed) {
    std::vector<float> values = normalValues(2048, size, seed);
    for (float& value : values) {
        value = rounded(value, dtype);
    }
    return values;
}

void addStep(RunRecorder& recorder, Precision mode, std::int64_t step, bool isLastOfFp16) {
    const std::string half = mode == Precision::Fp16 ? "float16" : mode == Precision::Bf16 ? "bfloat16" : "float32";
    const auto seed = static_cast<std::uint64_t>(step) * 16;
    const double growth = std::exp2(9.0 * (1 - std::exp(-static_cast<double>(step) / 60)));  // 1 … 512 times
    recorder.tensor_stat(tensorRow(step, "hidden", TensorRole::Output, half, output(half, 0.9, seed)));
    recorder.tensor_stat(tensorRow(step, "gate.a", TensorRole::Output, half, output(half, 5 * std::sqrt(growth), seed + 1)));
    std::vector<float> product = output(half, 24 * growth, seed + 2);
    if (isLastOfFp16) {
        product[7] = std::numeric_limits<float>::infinity();
        product[9] = -std::numeric_limits<float>::infinity();
    }
    recorder.tensor_stat(tensorRow(step, "gate.mul", TensorRole::Output, half, product));
    recorder.tensor_stat(tensorRow(step, "head", TensorRole::Output, half, output(half, 2.5, seed + 3)));
    std::uint64_t at = seed + 4;
    for (const char* parameter : {"gate.a.weight", "gate.b.weight", "head.weight"}) {
        const double size = parameter[0] == 'h' ? 2e-7 : 3e-4;  // the head's gradients die in fp16 without a scale
        recorder.tensor_stat(tensorRow(step, parameter, TensorRole::Gradient, "float32", normalValues(2048, size, at)));
        recorder.tensor_stat(tensorRow(step, parameter, TensorRole::Weight, "float32", normalValues(2048, 0.1, at + 1)));
        TensorStatRow update = tensorRow(step, parameter, TensorRole::Update, "float32", normalValues(2048, 3e-4, at + 2));
        update.unmoved = parameter[0] == 'h' ? 0.83 : 0.02;
        recorder.tensor_stat(update);
        at += 3;
    }
}

}  // namespace

std::vector<float> normalValues(std::size_t count, double size, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double u = (static_cast<double>(mixed(seed * 1000003 + 2 * i) >> 11) + 0.5) * 0x1.0p-53;
        const double v = static_cast<double>(mixed(seed * 1000003 + 2 * i + 1) >> 11) * 0x1.0p-53;
        values[i] = static_cast<float>(size * std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.141592653589793 * v));
    }
    return values;
}

TensorStatRow tensorRow(std::int64_t step, const std::string& tensor, TensorRole role, const std::string& dtype,
                        std::span<const float> values) {
    TensorStatRow row;
    row.step = step;
    row.tensor = tensor;
    row.role = role;
    row.dtype = dtype;
    row.elements = static_cast<std::int64_t>(values.size());
    double sum = 0, sumAbs = 0, sumSquares = 0;
    std::int64_t finite = 0;
    row.smallest_nonzero = std::numeric_limits<double>::infinity();
    for (const double value : values) {
        if (!std::isfinite(value)) {
            (std::isnan(value) ? row.nan : value > 0 ? row.pos_inf : row.neg_inf) += 1;
            continue;
        }
        ++finite;
        row.zero += value == 0 ? 1 : 0;
        row.negative += value < 0 ? 1 : 0;
        row.largest = std::max(row.largest, std::fabs(value));
        row.smallest_nonzero = value == 0 ? row.smallest_nonzero : std::min(row.smallest_nonzero, std::fabs(value));
        sum += value;
        sumAbs += std::fabs(value);
        sumSquares += value * value;
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(1, finite));
    row.smallest_nonzero = std::isfinite(row.smallest_nonzero) ? row.smallest_nonzero : 0;
    row.mean = sum / count;
    row.mean_abs = sumAbs / count;
    row.rms = std::sqrt(sumSquares / count);
    row.exponents = histogramOf(values).to_blob();
    return row;
}

void addTensorRecords(const Comparison& comparison, const Options& options, std::int64_t every) {
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        auto recorder = RunRecorder::open(comparison.runs[i].path);
        if (!recorder) {
            throw std::runtime_error(describe(recorder.error()));
        }
        const Precision mode = options.modes[i];
        const bool stops = mode == Precision::Fp16 && options.fp16NanAt && *options.fp16NanAt < options.steps;
        const std::int64_t last = stops ? *options.fp16NanAt : options.steps - 1;
        for (std::int64_t step = 0; step <= last; step += every) {
            addStep(**recorder, mode, step, false);
        }
        if (last % every != 0) {
            addStep(**recorder, mode, last, stops);
        }
        (*recorder)->meta("watch_level", "1");
        (*recorder)->meta("watch_steps", "240");
        (*recorder)->meta("watch_ns", "24000000");
        if (auto done = (*recorder)->flush(); !done) {
            throw std::runtime_error(describe(done.error()));
        }
    }
}

}  // namespace mantissa::fixture
