// The format lens beside really casting. The truth is x·scale in double and one rounding to the format: torch's own cast where x·2^k is a
// float32 (then the cast rounds once), and a search in the table of all values of the format where it isn't.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "judge/format_lens.h"
#include "run/run_parts.h"
#include "run/step_runner.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

constexpr std::array casts{NumberFormat::Fp16, NumberFormat::Bf16, NumberFormat::E4m3fn, NumberFormat::E5m2};

torch::ScalarType dtype_of(NumberFormat format) {
    switch (format) {
        case NumberFormat::Fp32: return torch::kFloat;
        case NumberFormat::Fp16: return torch::kHalf;
        case NumberFormat::Bf16: return torch::kBFloat16;
        case NumberFormat::E4m3fn: return torch::kFloat8_e4m3fn;
        case NumberFormat::E5m2: return torch::kFloat8_e5m2;
    }
    return torch::kFloat;
}

/// Histogram by the plain definition, value by value.
LensInput input_of(const torch::Tensor& tensor) {
    const torch::Tensor flat = tensor.detach().to(torch::kFloat).contiguous();
    std::map<std::uint16_t, HistogramBin> bins;
    LensInput input;
    double largest = 0, smallest = INFINITY;
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
        const float value = std::abs(flat.data_ptr<float>()[i]);
        if (std::isnan(value)) ++input.nan;
        else if (std::isinf(value)) ++input.inf;
        else if (value == 0) ++input.zero;
        else {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            const auto index = static_cast<std::uint16_t>(bits >> 19);
            HistogramBin& bin = bins[index];
            bin.index = index;
            ++((bits & 0x7FFFFU) == 0 ? bin.on_edge : bin.inside);
            largest = std::max(largest, double{value});
            smallest = std::min(smallest, double{value});
        }
    }
    for (const auto& [index, bin] : bins) input.histogram.bins.push_back(bin);
    if (largest > 0) input.largest = largest, input.smallest = smallest;
    return input;
}

struct Truth {
    double flush = 0, subnormal = 0, overflow = 0, exact = 0, sqnr_db = 0;
};

Truth truth_of(const torch::Tensor& scaled, const torch::Tensor& rounded, double min_normal) {
    const torch::Tensor keep = scaled.isfinite().logical_and(scaled != 0);
    const torch::Tensor x = scaled.masked_select(keep), y = rounded.masked_select(keep);
    const double count = std::max<double>(1, static_cast<double>(x.numel()));
    const auto share = [&](const torch::Tensor& which) { return which.sum().item<double>() / count; };
    Truth truth;
    truth.flush = share(y == 0);
    truth.subnormal = share((y != 0).logical_and(y.abs() < min_normal));
    truth.overflow = share(y.isfinite().logical_not());
    truth.exact = share(x == y);
    const double noise = (x - y).square().sum().item<double>();
    truth.sqnr_db = truth.overflow > 0 ? -INFINITY : noise == 0 ? INFINITY : 10 * std::log10(x.square().sum().item<double>() / noise);
    return truth;
}

/// Of x·2^k, which must be a float32, so that the cast rounds once.
Truth cast(const torch::Tensor& tensor, NumberFormat format, int log2_scale) {
    const torch::Tensor scaled = tensor.to(torch::kDouble) * std::ldexp(1.0, log2_scale);
    const torch::Tensor single = scaled.to(torch::kFloat);
    EXPECT_TRUE(torch::equal(single.to(torch::kDouble), scaled));
    return truth_of(scaled, single.to(dtype_of(format)).to(torch::kDouble), limits_of(format).min_normal);
}

/// All magnitudes of the format, ascending, from the bit patterns: the index of a magnitude is its pattern.
std::vector<double> magnitudes(NumberFormat format) {
    const bool is_byte = format == NumberFormat::E4m3fn || format == NumberFormat::E5m2;
    const torch::Tensor patterns = torch::arange(is_byte ? 128 : 32768, is_byte ? torch::kByte : torch::kShort);
    const torch::Tensor values = patterns.view(dtype_of(format)).to(torch::kDouble);
    std::vector<double> finite;
    for (std::int64_t i = 0; i < values.numel() && std::isfinite(values[i].item<double>()); ++i) finite.push_back(values[i].item<double>());
    return finite;
}

double nearest(const std::vector<double>& table, double overflow_from, double x) {
    const double magnitude = std::abs(x);
    const auto above = std::lower_bound(table.begin(), table.end(), magnitude);
    double y = 0;
    if (above == table.end()) {
        y = magnitude < overflow_from ? table.back() : INFINITY;
    } else if (*above == magnitude) {
        y = magnitude;
    } else {
        const auto index = above - table.begin();
        const double down = magnitude - table[index - 1], up = *above - magnitude;
        y = down < up || (down == up && (index - 1) % 2 == 0) ? table[index - 1] : *above;
    }
    return std::copysign(y, x);
}

struct Worst {
    double share = 0, flush = 0, exact = 0, sqnr = 0;
    std::string share_at, exact_at, sqnr_at;
    void take(double& worst, std::string& at, double error, const std::string& here) {
        if (error <= worst) return;
        worst = error;
        at = here;
    }
    void compare(const LensReading& lens, const Truth& truth, const std::string& here, bool noise_is_spread) {
        take(share, share_at, std::abs(lens.flush - truth.flush), here + " flush");
        flush = std::max(flush, std::abs(lens.flush - truth.flush));
        take(share, share_at, std::abs(lens.subnormal - truth.subnormal), here + " subnormal");
        take(share, share_at, std::abs(lens.overflow - truth.overflow), here + " overflow");
        if (noise_is_spread) take(exact, exact_at, std::abs(lens.exact - truth.exact), here);
        if (!noise_is_spread || std::isinf(lens.sqnr_db) || std::isinf(truth.sqnr_db)) return;
        take(sqnr, sqnr_at, std::abs(lens.sqnr_db - truth.sqnr_db), here);
    }
    void print(const std::string& what) const {
        std::printf("%s: largest error of a share %.2e (%s), of the exact share %.2e (%s), of the SQNR %.3f dB (%s)\n", what.c_str(), share,
                    share_at.c_str(), exact, exact_at.c_str(), sqnr, sqnr_at.c_str());
    }
};

Worst compare_all(const std::map<std::string, torch::Tensor>& tensors, bool noise_is_spread) {
    Worst worst;
    for (const auto& [name, tensor] : tensors) {
        const LensInput input = input_of(tensor);
        for (const NumberFormat format : casts) {
            for (int k = lens_lowest_log2_scale; k <= lens_highest_log2_scale; ++k) {
                const std::string here = name + " " + to_string(format) + " 2^" + std::to_string(k);
                const Truth truth = cast(tensor, format, k);
                const LensReading lens = read_lens(input, format, std::ldexp(1.0, k));
                worst.compare(lens, truth, here, noise_is_spread);
            }
        }
    }
    return worst;
}

TEST(FormatLens, SharesOfRandomTensorsAreThoseOfCasts) {
    torch::manual_seed(11);
    const std::int64_t n = 40'000;
    const torch::Tensor normal = torch::randn({n});
    const std::map<std::string, torch::Tensor> tensors{
        {"normal", normal},
        {"small normal", normal * 3e-5},
        {"large normal", normal * 7e3},
        {"log-normal", torch::exp(torch::randn({n}) * 2) * torch::randn({n}).sign()},
        {"wide log-normal", torch::exp(torch::randn({n}) * 4 - 6)},
        {"uniform", torch::rand({n}) * 2 - 1},
    };
    const Worst worst = compare_all(tensors, true);
    worst.print("random tensors");
    EXPECT_LT(worst.share, 1e-3);
    EXPECT_LT(worst.exact, 2e-3);
    EXPECT_LT(worst.sqnr, 2);  // of a long tail a few values decide
}

TEST(FormatLens, ValuesOnEdgesAreRoundedExactly) {
    torch::manual_seed(12);
    const torch::Tensor powers = torch::pow(2.0, torch::arange(-60, 60, torch::kDouble)).to(torch::kFloat);
    // Multiples of 2^-5 of powers of two lie on edges: ties of e4m3fn and e5m2, and half the smallest subnormal of every format.
    std::vector<float> ties;
    for (int exponent = -40; exponent <= 30; ++exponent) {
        for (int i = 16; i < 32; ++i) ties.push_back(std::ldexp(static_cast<float>(i), exponent - 4));
    }
    const std::map<std::string, torch::Tensor> tensors{
        {"powers of two", powers},
        {"ties", torch::tensor(ties)},
        {"flags", torch::randint(0, 2, {5000}).to(torch::kFloat)},
        {"small integers", torch::randint(-31, 32, {5000}).to(torch::kFloat)},
        {"limits", torch::tensor({464.0F, 448.0F, 480.0F, 61440.0F, 57344.0F, 65536.0F, std::ldexp(1.0F, -25), std::ldexp(1.0F, -10),
                                  std::ldexp(1.0F, -17), std::ldexp(1.5F, -25), 0.0F})},
    };
    for (const auto& [name, tensor] : tensors) {
        const LensInput input = input_of(tensor);
        for (const NumberFormat format : casts) {
            for (int k = lens_lowest_log2_scale; k <= lens_highest_log2_scale; ++k) {
                const Truth truth = cast(tensor, format, k);
                const LensReading lens = read_lens(input, format, std::ldexp(1.0, k));
                const std::string here = name + " " + to_string(format) + " 2^" + std::to_string(k);
                EXPECT_NEAR(lens.flush, truth.flush, 1e-12) << here;
                EXPECT_NEAR(lens.subnormal, truth.subnormal, 1e-12) << here;
                EXPECT_NEAR(lens.overflow, truth.overflow, 1e-12) << here;
                EXPECT_NEAR(lens.exact, truth.exact, 1e-12) << here;
                const bool is_number = std::isfinite(truth.sqnr_db);
                EXPECT_TRUE(is_number ? std::abs(lens.sqnr_db - truth.sqnr_db) < 1e-6 : lens.sqnr_db == truth.sqnr_db) << here;
            }
        }
    }
}

TEST(FormatLens, PixelsAndSubnormals) {
    torch::manual_seed(13);
    const std::map<std::string, torch::Tensor> tensors{
        {"pixels", torch::randint(0, 256, {20'000}).to(torch::kFloat)},
        {"subnormals of fp16", torch::randn({20'000}) * std::ldexp(1.0, -19)},
        {"one value", torch::full({100}, 0.7F)},
        {"near fp16's limit", torch::rand({20'000}) * 4000 + 62'000},
    };
    const Worst worst = compare_all(tensors, false);
    worst.print("pixels and subnormals");
    EXPECT_LT(worst.share, 1e-3);
}

TEST(FormatLens, SharesOfTrainedTensorsAreThoseOfCasts) {
    RunPlan plan;
    plan.model.name = "cnn";
    plan.training.max_steps = 60;
    const auto device = choose_run_device(plan);
    ASSERT_TRUE(device.ok());
    auto parts = build_run(plan, *device);
    ASSERT_TRUE(parts.ok());
    StepRunner runner(**parts, plan.training, nullptr);
    for (int step = 0; step < 60; ++step) (void)runner.run();
    std::map<std::string, torch::Tensor> tensors;
    for (const auto& parameter : (*parts)->bare_model().named_parameters()) {
        tensors["weight " + parameter.key()] = parameter.value().detach();
        tensors["gradient " + parameter.key()] = parameter.value().grad();
    }
    ASSERT_GE(tensors.size(), 8U);
    // Of a thousand values one is 1e-3, and the lens doesn't know where in its bin each of them lies: what it is wrong by are two or three
    // values beside a limit that lies inside a bin (subnormal in fp16 and bf16, 65,520). Flush never is, and fp8 has all limits on edges.
    std::map<std::string, torch::Tensor> large, small;
    for (const auto& [name, tensor] : tensors) (tensor.numel() >= 1000 ? large : small)[name] = tensor;
    const Worst worst = compare_all(large, false), worst_small = compare_all(small, false);
    worst.print("trained digits-cnn, 1,000 values or more");
    worst_small.print("trained digits-cnn, less");
    EXPECT_LT(worst.share, 2.5e-3);
    EXPECT_LT(worst_small.share, 0.03);
    EXPECT_EQ(std::max(worst.flush, worst_small.flush), 0);
}

TEST(FormatLens, AnyScaleNotOnlyPowersOfTwo) {
    torch::manual_seed(14);
    const torch::Tensor tensor = torch::randn({20'000});
    const LensInput input = input_of(tensor);
    Worst worst;
    for (const NumberFormat format : casts) {
        const FormatLimits& limits = limits_of(format);
        const std::vector<double> table = magnitudes(format);
        EXPECT_EQ(table.back(), limits.largest);
        EXPECT_EQ(table[1], limits.min_subnormal);
        for (const double scale : {3e-8, 0.0123, 1.7, 700.0, 30'000.0}) {
            const torch::Tensor scaled = tensor.to(torch::kDouble) * scale;
            torch::Tensor rounded = scaled.clone();
            for (std::int64_t i = 0; i < rounded.numel(); ++i) {
                double& value = rounded.data_ptr<double>()[i];
                value = nearest(table, limits.overflow_threshold, value);
            }
            const std::string here = std::string(to_string(format)) + " ×" + std::to_string(scale);
            worst.compare(read_lens(input, format, scale), truth_of(scaled, rounded, limits.min_normal), here, true);
        }
    }
    worst.print("scales that are no powers of two");
    EXPECT_LT(worst.share, 1e-3);
    EXPECT_LT(worst.exact, 1e-3);
    EXPECT_LT(worst.sqnr, 0.5);
}

TEST(FormatLens, RoundsEveryHalfAndByteValueAsTorchDoes) {
    for (const NumberFormat format : casts) {
        const std::vector<double> table = magnitudes(format);
        for (std::size_t i = 0; i + 1 < table.size(); ++i) {
            const double half_way = (table[i] + table[i + 1]) / 2;
            ASSERT_EQ(round_to(format, table[i]), table[i]);
            ASSERT_EQ(round_to(format, half_way), table[i % 2 == 0 ? i : i + 1]) << to_string(format) << " " << half_way;
        }
    }
    EXPECT_EQ(round_to(NumberFormat::Fp16, 65519.996), 65504);
    EXPECT_TRUE(std::isinf(round_to(NumberFormat::Fp16, 65520)));
    EXPECT_EQ(round_to(NumberFormat::E4m3fn, 464), 448);
    EXPECT_TRUE(std::isinf(round_to(NumberFormat::E4m3fn, 464.001)));
    EXPECT_TRUE(std::isinf(round_to(NumberFormat::E5m2, 61440)));
    EXPECT_EQ(round_to(NumberFormat::E5m2, 61439.9), 57344);
}

TEST(FormatLens, FindsTheScalesThatLoseLeast) {
    torch::manual_seed(15);
    // Gradients around 1e-7: fp16 flushes them at scale 1 and overflows near 2^39.
    const LensInput input = input_of(torch::randn({10'000}).abs().clamp_min(1e-3) * 1e-7);
    const LensCurve curve = lens_curve(input, NumberFormat::Fp16);
    ASSERT_EQ(curve.points.size(), 49U);
    EXPECT_GT(curve.points[24].reading.flush, 0.2);
    EXPECT_EQ(curve.best_lost, 0);
    EXPECT_EQ(curve.best_last, 24);
    // The smallest value is 1e-10: from 2^-25 / 1e-10 = 2^8.2 on nothing flushes.
    EXPECT_EQ(curve.best_first, 9);
    const LensInput nothing = input_of(torch::zeros({4}));
    EXPECT_EQ(nothing.zero, 4);
    EXPECT_EQ(read_lens(nothing, NumberFormat::Fp16).lost(), 0);
}

}  // namespace
}  // namespace mantissa
