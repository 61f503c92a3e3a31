// The format lens beside really casting. The truth is x·scale in double and one rounding to the format: torch's own cast where x·2^k is a
// float32 (then the cast rounds once), and a search in the table of all values of the format where it isn't.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "judge/format_lens.h"
#include "numerics/tensor_record.h"
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

LensInput input_of(const torch::Tensor& tensor) {
    const auto input = lens_input(tensor_record(tensor));
    EXPECT_TRUE(input.ok());
    return *input;
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

/// Every x·scale rounded by search, also where it is no float32.
Truth rounded_truth(const torch::Tensor& tensor, NumberFormat format, const std::vector<double>& table, double scale) {
    const FormatLimits& limits = limits_of(format);
    const torch::Tensor scaled = tensor.detach().to(torch::kDouble).flatten() * scale;
    torch::Tensor rounded = scaled.clone();
    // 464 is e4m3fn's tie, and its even neighbour is the largest value.
    const double overflow_from = limits.threshold_overflows ? limits.overflow_threshold : std::nextafter(limits.overflow_threshold, INFINITY);
    for (double *value = rounded.data_ptr<double>(), *end = value + rounded.numel(); value != end; ++value)
        *value = nearest(table, overflow_from, *value);
    return truth_of(scaled, rounded, limits.min_normal);
}

struct Worst {
    double share = 0, exact = 0, sqnr = 0;
    double beyond_bound = 0;  // how far an error exceeds what the reading admits
    std::string share_at, exact_at, sqnr_at;
    void take(double& worst, std::string& at, double error, const std::string& here) {
        if (error <= worst) return;
        worst = error;
        at = here;
    }
    void compare(const LensReading& lens, const Truth& truth, const std::string& here, bool noise_is_spread) {
        for (const auto& [predicted, met, what] : {std::tuple{lens.flush, truth.flush, " flush"}, std::tuple{lens.subnormal, truth.subnormal, " subnormal"},
                                                   std::tuple{lens.overflow, truth.overflow, " overflow"}}) {
            take(share, share_at, std::abs(predicted - met), here + what);
            beyond_bound = std::max(beyond_bound, std::abs(predicted - met) - lens.share_error);
        }
        if (noise_is_spread) take(exact, exact_at, std::abs(lens.exact - truth.exact), here);
        if (!noise_is_spread || std::isinf(lens.sqnr_db) || std::isinf(truth.sqnr_db)) return;
        take(sqnr, sqnr_at, std::abs(lens.sqnr_db - truth.sqnr_db), here);
    }
    void print(const std::string& what) const {
        std::printf("%s: largest error of a share %.2e (%s), of the exact share %.2e (%s), of the SQNR %.3f dB (%s)\n", what.c_str(), share,
                    share_at.c_str(), exact, exact_at.c_str(), sqnr, sqnr_at.c_str());
    }
};

/// Counted, not estimated; sums of shares differ in their last bits.
constexpr double counted = 1e-12;
constexpr std::array odd_scales{3e-8, 0.0123, 1.7, 700.0, 30'000.0};

std::map<std::string, torch::Tensor> trained_tensors() {
    RunPlan plan;
    plan.model.name = "cnn";
    plan.training.max_steps = 60;
    std::map<std::string, torch::Tensor> tensors;
    const auto device = choose_run_device(plan);
    if (!device) return tensors;
    auto parts = build_run(plan, *device);
    if (!parts) return tensors;
    StepRunner runner(**parts, plan.training, nullptr);
    for (int step = 0; step < 60; ++step) (void)runner.run();
    for (const auto& parameter : (*parts)->bare_model().named_parameters()) {
        tensors["weight " + parameter.key()] = parameter.value().detach();
        tensors["gradient " + parameter.key()] = parameter.value().grad();
    }
    return tensors;
}

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
    EXPECT_LT(worst.share, counted);
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
    EXPECT_LT(worst.share, counted);
}

// All of float32, and every place where a rounding of some format changes by one unit in the last place of float32.
TEST(FormatLens, SharesAreCountedInTheWholeRangeAndBesideEveryBorder) {
    torch::manual_seed(16);
    const torch::Tensor all = torch::randint(1, 0x7F80'0000, {6'000}, torch::kInt).view(torch::kFloat);
    std::vector<std::int32_t> bits;
    for (std::uint32_t exponent = 1; exponent < 255; ++exponent) {
        for (const unsigned below_two : {3U, 7U, 8U, 10U, 11U})
            for (int ulp = -1; ulp <= 1; ++ulp) bits.push_back(static_cast<std::int32_t>((exponent << 23) + 0x80'0000U - (0x80'0000U >> below_two)) + ulp);
        for (const std::uint32_t place : {0U, 0x60'0000U, 0x68'0000U, 0x70'0000U})
            for (int ulp = 0; ulp <= 1; ++ulp) bits.push_back(static_cast<std::int32_t>((exponent << 23) + place) + ulp);
    }
    for (unsigned shift = 0; shift < 23; ++shift)
        for (const std::uint32_t pattern : {1U, 3U, 255U, 256U, 257U}) bits.push_back(static_cast<std::int32_t>((pattern << shift) & 0x7F'FFFFU));
    const torch::Tensor borders = torch::tensor(bits, torch::kInt).view(torch::kFloat);
    Worst worst;
    for (const auto& [name, tensor] : {std::pair{"all of float32", all}, std::pair{"beside borders", borders}}) {
        const LensInput input = input_of(tensor);
        for (const NumberFormat format : casts) {
            const std::vector<double> table = magnitudes(format);
            for (int k = lens_lowest_log2_scale; k <= lens_highest_log2_scale; ++k) {
                const LensReading lens = read_lens(input, format, std::ldexp(1.0, k));
                const std::string here = std::string(name) + " " + to_string(format) + " 2^" + std::to_string(k);
                worst.compare(lens, rounded_truth(tensor, format, table, std::ldexp(1.0, k)), here, false);
                EXPECT_EQ(lens.share_error, 0) << here;
            }
        }
    }
    worst.print("all of float32");
    EXPECT_LT(worst.share, counted);
}

TEST(FormatLens, SharesOfTrainedTensorsAreThoseOfCasts) {
    const auto tensors = trained_tensors();
    ASSERT_GE(tensors.size(), 8U);
    const Worst worst = compare_all(tensors, false);
    worst.print("trained digits-cnn");
    EXPECT_LT(worst.share, counted);
    // Between powers of two a limit lies inside a bin: the lens is off by no more than it says.
    Worst odd, odd_large;
    for (const auto& [name, tensor] : tensors) {
        const LensInput input = input_of(tensor);
        for (const NumberFormat format : casts) {
            const std::vector<double> table = magnitudes(format);
            for (const double scale : odd_scales) {
                const Truth truth = rounded_truth(tensor, format, table, scale);
                (tensor.numel() >= 1000 ? odd_large : odd).compare(read_lens(input, format, scale), truth, name + " " + to_string(format) + " ×" + std::to_string(scale), false);
            }
        }
    }
    odd_large.print("trained digits-cnn, 1,000 values or more, scales that are no powers of two");
    odd.print("trained digits-cnn, fewer values, scales that are no powers of two");
    EXPECT_LT(odd_large.share, 5e-3);
    EXPECT_LT(std::max(odd.beyond_bound, odd_large.beyond_bound), counted);
}

TEST(FormatLens, AnyScaleNotOnlyPowersOfTwo) {
    torch::manual_seed(14);
    const torch::Tensor tensor = torch::randn({20'000});
    const LensInput input = input_of(tensor);
    Worst worst;
    double widest = 0;
    for (const NumberFormat format : casts) {
        const std::vector<double> table = magnitudes(format);
        EXPECT_EQ(table.back(), limits_of(format).largest);
        EXPECT_EQ(table[1], limits_of(format).min_subnormal);
        for (const double scale : odd_scales) {
            const LensReading lens = read_lens(input, format, scale);
            worst.compare(lens, rounded_truth(tensor, format, table, scale), std::string(to_string(format)) + " ×" + std::to_string(scale), true);
            widest = std::max(widest, lens.share_error);
        }
    }
    worst.print("scales that are no powers of two");
    EXPECT_LT(worst.share, 1e-3);
    EXPECT_LT(worst.beyond_bound, counted);
    EXPECT_LT(widest, 0.06);  // a sixteenth of an octave, or two of them
    EXPECT_LT(worst.exact, 1e-3);
    EXPECT_LT(worst.sqnr, 0.5);
}

// The worst that can be: all values of a bin beside its edge, on the other side of the limit from where an even spread would have most.
TEST(FormatLens, TheBoundHoldsForValuesThatLieUnevenlyInTheirBin) {
    const double scale = 1.7, limit = limits_of(NumberFormat::Fp16).overflow_threshold / scale;
    const double edge = bin_edge(histogram_place(limit).index), below = edge + (limit - edge) * 0.01;
    const torch::Tensor tensor = torch::cat({torch::full({60}, below), torch::full({40}, 1.0), torch::full({1}, below * 0.999)}).to(torch::kFloat);
    const LensReading lens = read_lens(input_of(tensor), NumberFormat::Fp16, scale);
    Worst worst;
    worst.compare(lens, rounded_truth(tensor, NumberFormat::Fp16, magnitudes(NumberFormat::Fp16), scale), "uneven", false);
    EXPECT_LE(worst.beyond_bound, counted);
    // Without the largest value the bin counts as evenly filled: more than half of it as beyond the limit, where nothing is.
    LensInput blind = input_of(tensor);
    blind.largest.reset();
    const LensReading guess = read_lens(blind, NumberFormat::Fp16, scale);
    EXPECT_GT(guess.overflow, 0.05);
    EXPECT_GE(guess.share_error, guess.overflow);
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
