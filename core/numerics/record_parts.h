#pragma once
// What the two forms of the pass share: from key counts and sums to a row. Internal to core/numerics.
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "numerics/tensor_record.h"
#include "numerics/value_blocks.h"
#include "record/exponent_histogram.h"
#include "record/rows.h"

namespace mantissa::record_parts {

/// Bins below this one are subnormal in the dtype (its smallest normal number is the lower edge of a bin).
inline std::uint32_t first_normal_bin(at::ScalarType type) {
    const auto bin_of_exponent = [](int exponent) { return static_cast<std::uint32_t>((exponent - lowest_bin_exponent) * bins_per_exponent); };
    switch (type) {
        case at::kHalf:
        case at::kFloat8_e5m2:
            return bin_of_exponent(-14);
        case at::kFloat8_e4m3fn:
            return bin_of_exponent(-6);
        case at::kFloat8_e4m3fnuz:
            return bin_of_exponent(-7);
        case at::kFloat8_e5m2fnuz:
            return bin_of_exponent(-15);
        case at::kDouble:
            return 0;  // below all that fp32 can tell: counted apart
        default:
            return bin_of_exponent(-126);
    }
}

/// The key of a double's magnitude: not rounded to float32, so that bins are exact.
inline std::uint32_t key_of_double(double magnitude) {
    if (std::isinf(magnitude)) return blocks::infinity_key;
    if (std::isnan(magnitude)) return blocks::infinity_key + 1;
    if (magnitude == 0) return 0;
    const HistogramPlace place = histogram_place(magnitude);
    return blocks::inside_key(static_cast<std::uint32_t>(place.index)) - (place.is_on_edge ? 1 : 0);
}

struct BinCount {
    std::uint64_t on_edge = 0, inside = 0;
};

/// Counts of the keys of blocks.
template <typename CountOf>
struct KeyedCounts {
    CountOf count_of;
    [[nodiscard]] std::uint64_t zero() { return count_of(0); }
    [[nodiscard]] std::uint64_t infinite() { return count_of(blocks::infinity_key); }
    [[nodiscard]] std::uint64_t nan() {
        std::uint64_t sum = 0;
        for (std::uint32_t key = blocks::infinity_key + 1; key < blocks::part_keys; ++key) sum += count_of(key);
        return sum;
    }
    [[nodiscard]] BinCount of(std::uint32_t bin, bool tells_edge) {
        const std::uint32_t key = blocks::inside_key(bin);
        return {tells_edge ? count_of(key - 1) : 0, count_of(key)};
    }
};
template <typename CountOf>
KeyedCounts(CountOf) -> KeyedCounts<CountOf>;

/// Fills zero, pos_inf, nan, subnormal and the histogram from counts, each of which is asked for at most once. Needs neg_inf, largest and
/// smallest_nonzero in the row, which bound the bins that are looked at.
template <typename Counts>
void fill_from_counts(TensorStatRow& row, at::ScalarType type, std::uint64_t subnormal_doubles, Counts&& counts) {
    row.zero = static_cast<std::int64_t>(counts.zero());
    row.pos_inf = static_cast<std::int64_t>(counts.infinite()) - row.neg_inf;
    row.nan = static_cast<std::int64_t>(counts.nan());
    std::uint64_t subnormal = subnormal_doubles;
    ExponentHistogram histogram;
    if (row.smallest_nonzero > 0) {
        const std::uint32_t normal = first_normal_bin(type);
        const auto first = static_cast<std::uint32_t>(histogram_place(row.smallest_nonzero).index);
        const auto last = static_cast<std::uint32_t>(histogram_place(row.largest).index);
        for (std::uint32_t bin = first; bin <= last; ++bin) {
            const BinCount count = counts.of(bin, bin % bins_per_exponent < 16);
            if (count.on_edge + count.inside == 0) continue;
            if (bin < normal) subnormal += count.on_edge + count.inside;
            histogram.bins.push_back({static_cast<std::uint16_t>(bin), count.on_edge, count.inside});
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
