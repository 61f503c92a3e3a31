#pragma once
// The format lens: what a number format makes of a tensor, from its histogram alone, at any loss scale (design §7). At a scale 2^k every
// limit of a format is the border of a bin, so the shares that flush, become subnormal and overflow are exactly those of really casting,
// of any tensor; at another scale a limit lies inside a bin, and the reading says by how much they can be off. What is inside a bin is
// taken as evenly spread, which gives the predicted SQNR to a few tenths of a dB. Magnitudes only: all formats are symmetric.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "record/exponent_histogram.h"
#include "record/rows.h"

namespace mantissa {

enum class NumberFormat { Fp32, Fp16, Bf16, E4m3fn, E5m2 };
inline constexpr std::array<NumberFormat, 5> all_number_formats{NumberFormat::Fp32, NumberFormat::Fp16, NumberFormat::Bf16,
                                                                NumberFormat::E4m3fn, NumberFormat::E5m2};
[[nodiscard]] const char* to_string(NumberFormat format);  // "fp32" "fp16" "bf16" "e4m3fn" "e5m2"

struct FormatLimits {
    NumberFormat format = NumberFormat::Fp32;
    double largest = 0, min_normal = 0, min_subnormal = 0;
    int mantissa_bits = 0;
    bool has_inf = true;             // e4m3fn has none: what overflows is NaN
    double overflow_threshold = 0;   // half a step above `largest`
    bool threshold_overflows = true;  // a value exactly there overflows (ties go to even; in e4m3fn even is `largest`)
    /// Exactly that much still rounds to 0.
    [[nodiscard]] double flush_limit() const { return min_subnormal / 2; }
    [[nodiscard]] int min_exponent() const;  // of min_normal
};
[[nodiscard]] const FormatLimits& limits_of(NumberFormat format);

/// The format that carries values of this role in a mode: fp8 keeps gradients in e5m2 and the rest in e4m3fn; `no` is fp32.
[[nodiscard]] NumberFormat format_of(Precision mode, TensorRole role);
/// Of a recorded dtype ("float16", "bfloat16", "float8_e4m3fn", …); anything else counts as fp32.
[[nodiscard]] NumberFormat format_of_dtype(std::string_view dtype);

/// Largest finite value of a recorded dtype, float64 too; 0 for one that is no floating-point format.
[[nodiscard]] double largest_of_dtype(std::string_view dtype);

/// |value| ≥ 0 rounded to nearest, ties to even; +Inf where it overflows, also in a format without Inf.
[[nodiscard]] double round_to(NumberFormat format, double magnitude);

/// What the lens looks at.
struct LensInput {
    ExponentHistogram histogram;
    std::int64_t zero = 0, inf = 0, nan = 0;  // beside it
    // Magnitudes of the finite values other than 0, where known: they narrow the outermost bins.
    std::optional<double> largest, smallest;
    NumberFormat source = NumberFormat::Fp32;  // the values already lie in it: what it can't tell apart is exact
};
/// An error for a damaged histogram.
Result<LensInput> lens_input(const TensorStatRow& row);

/// Shares are of the values that are finite and not 0; all 0 when there are none.
struct LensReading {
    double flush = 0;      // become 0
    double subnormal = 0;  // become subnormal
    double overflow = 0;   // become Inf, or NaN in e4m3fn
    double share_error = 0;  // none of the three is further off: the share inside bins that a limit cuts; 0 at a scale 2^k, unless the
                             // recording is older than the borders at 2−2^-7 … 2−2^-11
    double exact = 0;        // keep their value
    double sqnr_db = 0;    // predicted; −Inf once a value overflows, +Inf when nothing is lost
    double sqnr_clamped_db = 0;  // the same if values beyond the largest one were clamped to it
    double headroom_bits = 0;    // log2(largest of the format / largest value × scale); +Inf without values
    [[nodiscard]] double lost() const { return flush + overflow; }
};
[[nodiscard]] LensReading read_lens(const LensInput& input, NumberFormat format, double scale = 1.0);

inline constexpr int lens_lowest_log2_scale = -24, lens_highest_log2_scale = 24;

/// The share that is lost over the loss scale, and where it is least.
struct LensCurve {
    struct Point {
        int log2_scale = 0;
        LensReading reading;
    };
    std::vector<Point> points;  // one for every power of two, ascending
    int best_first = 0, best_last = 0;  // log2 of the scales at which the least is lost; the longest such run
    double best_lost = 0;
};
[[nodiscard]] LensCurve lens_curve(const LensInput& input, NumberFormat format, int from_log2 = lens_lowest_log2_scale,
                                   int to_log2 = lens_highest_log2_scale);

}  // namespace mantissa
