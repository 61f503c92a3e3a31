#pragma once
// What the two forms of the pass share: from key counts and sums to a row. Internal to core/numerics.
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "numerics/value_blocks.h"
#include "record/exponent_histogram.h"
#include "record/rows.h"
#include "torch_pch.h"

namespace mantissa::record_parts {

/// Keys below this one are subnormal in the dtype (its smallest normal number is the lower edge of a bin).
inline std::uint32_t first_normal_key(at::ScalarType type) {
    const auto key_of_exponent = [](int exponent) { return static_cast<std::uint32_t>((exponent + 127) * 32); };
    switch (type) {
        case at::kHalf:
        case at::kFloat8_e5m2:
            return key_of_exponent(-14);
        case at::kFloat8_e4m3fn:
            return key_of_exponent(-6);
        case at::kFloat8_e4m3fnuz:
            return key_of_exponent(-7);
        case at::kFloat8_e5m2fnuz:
            return key_of_exponent(-15);
        case at::kDouble:
            return 0;  // below all that fp32 can tell: counted apart
        default:
            return key_of_exponent(-126);
    }
}

/// The key of a double's magnitude as float32. Cut off, not rounded, so that bins are exact; what lies outside of float32's finite range
/// counts in its first or last bin.
inline std::uint32_t key_of_double(double magnitude) {
    if (std::isinf(magnitude)) return blocks::infinity_key;
    if (std::isnan(magnitude)) return blocks::infinity_key + 1;
    if (magnitude >= 0x1p128) return blocks::infinity_key - 1;
    if (magnitude < 0x1p-126) {
        const double units = magnitude * 0x1p149, whole = std::floor(units);
        const std::uint32_t key = blocks::key_of(static_cast<std::uint32_t>(whole));
        return units == whole ? key : key | 1U;
    }
    const auto bits = std::bit_cast<std::uint64_t>(magnitude);
    const auto bin = static_cast<std::uint32_t>((bits >> 48) - (std::uint64_t{1023 - 127} << 4));
    return bin * 2 + ((bits & 0xFFFF'FFFF'FFFFULL) != 0 ? 1 : 0);
}

/// Fills zero, pos_inf, nan, subnormal and the histogram from counts: `count_of(key)` for all keys. Needs neg_inf, largest and
/// smallest_nonzero in the row, which bound the keys that are looked at.
template <typename CountOf>
void fill_from_counts(TensorStatRow& row, at::ScalarType type, std::uint64_t subnormal_doubles, CountOf&& count_of) {
    row.zero = static_cast<std::int64_t>(count_of(0));
    const std::uint64_t infinite = count_of(blocks::infinity_key);
    row.pos_inf = static_cast<std::int64_t>(infinite) - row.neg_inf;
    std::uint64_t nan = 0, subnormal = subnormal_doubles;
    for (std::uint32_t key = blocks::infinity_key + 1; key < blocks::key_limit; ++key) nan += count_of(key);
    row.nan = static_cast<std::int64_t>(nan);
    ExponentHistogram histogram;
    if (row.smallest_nonzero > 0) {
        const std::uint32_t normal = first_normal_key(type);
        const std::uint32_t first = key_of_double(row.smallest_nonzero) / 2, last = key_of_double(row.largest) / 2;
        for (std::uint32_t bin = first; bin <= last; ++bin) {
            const std::uint64_t edge = bin == 0 ? 0 : count_of(bin * 2), inside = count_of(bin * 2 + 1);
            if (edge + inside == 0) continue;
            if (bin * 2 < normal) subnormal += edge + inside;
            histogram.bins.push_back({static_cast<std::uint16_t>(bin), edge, inside});
        }
    }
    row.subnormal = static_cast<std::int64_t>(subnormal);
    row.exponents = histogram.to_blob();
}

/// Mean, mean of magnitudes and root of the mean square of the finite values; the sums are of value / unit.
inline void fill_means(TensorStatRow& row, double sum, double magnitude, double square, double unit) {
    const std::int64_t finite = row.elements - row.nan - row.pos_inf - row.neg_inf;
    if (finite == 0) return;
    const auto count = static_cast<double>(finite);
    row.mean = sum / count * unit;
    row.mean_abs = magnitude / count * unit;
    row.rms = std::sqrt(square / count) * unit;
}

/// Squares of numbers outside of these leave double precision: they are summed in units of the largest.
inline double unit_of_sums(double largest) {
    return largest > 0x1p400 || (largest > 0 && largest < 0x1p-400) ? largest : 1.0;
}

}  // namespace mantissa::record_parts
