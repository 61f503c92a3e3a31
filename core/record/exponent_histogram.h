#pragma once
// Where the magnitudes of a tensor lie: 277 exponents (2^-149 … 2^127, float32's subnormal numbers included) × 20 bins, kept sparse.
// Sixteen bins are the first four bits of the mantissa; each tells values on its lower edge from those inside, because limits of formats
// (half the smallest subnormal, 464, 61,440) lie on edges and a tie rounds its own way. The last sixteenth is divided at 2−2^-7, 2−2^-8,
// 2−2^-10 and 2−2^-11, where bf16 and fp16 begin to be normal and to overflow. So every limit of fp16, bf16, e4m3fn and e5m2 at every
// loss scale 2^k is the border of a bin, and one histogram answers exactly for all of them (judge/format_lens.h). Zeros, Inf and NaN are
// not in it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

inline constexpr int bins_per_exponent = 20, lowest_bin_exponent = -149, histogram_bins = 277 * bins_per_exponent;

struct HistogramBin {
    std::uint16_t index = 0;    // (exponent + 149) × 20 + place
    std::uint64_t on_edge = 0;  // values equal to the bin's lower edge; the parts of the last sixteenth don't tell them apart
    std::uint64_t inside = 0;   // the others
    std::uint16_t parts = 1;    // bins that it stands for: a recording made before they were divided has some as one
    bool operator==(const HistogramBin&) const = default;
};

struct ExponentHistogram {
    std::vector<HistogramBin> bins;  // ascending, none empty

    [[nodiscard]] std::uint64_t count() const;
    /// Little-endian varints after a mark; empty for no bins. Not for one that was read from an older recording.
    [[nodiscard]] std::string to_blob() const;
    /// Of either form: older recordings have 256 × 16 bins and no mark. An error for bytes that no histogram gives (damaged file).
    static Result<ExponentHistogram> from_blob(std::string_view blob);
    bool operator==(const ExponentHistogram&) const = default;
};

/// Where a finite magnitude other than 0 counts. What only float64 holds, below 2^-149 or from 2^128 on, counts in the first or last bin.
struct HistogramPlace {
    int index = 0;
    bool is_on_edge = false;
};
[[nodiscard]] HistogramPlace histogram_place(double magnitude);

/// The histogram of finite values, by magnitude; others and zeros are passed over.
[[nodiscard]] ExponentHistogram histogram_of(const std::vector<double>& values);

/// Lower edge of a bin; `histogram_bins` gives the upper edge of the last.
[[nodiscard]] double bin_edge(int index);
[[nodiscard]] double bin_end(const HistogramBin& bin);
/// Of the values in it: they lie in [2^e, 2^(e+1)).
[[nodiscard]] int exponent_of_bin(int index);

}  // namespace mantissa
