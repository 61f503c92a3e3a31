#pragma once
// Where the magnitudes of a tensor lie: 256 exponents × 16 bins (the first four bits of the mantissa of |x| as float32), kept sparse.
// Each bin tells values on its lower edge from values inside it, because limits of formats (half the smallest subnormal, 464, 61,440)
// lie on edges and a tie rounds its own way. Zeros, Inf and NaN are not in it. A loss scale of 2^k shifts it by 16·k bins, so one
// histogram answers for every scale (judge/format_lens.h).
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

inline constexpr int histogram_bins = 4096;

struct HistogramBin {
    std::uint16_t index = 0;   // bits of |x| >> 19: exponent field × 16 + first four mantissa bits
    std::uint64_t on_edge = 0;  // values equal to the bin's lower edge
    std::uint64_t inside = 0;   // the others
    bool operator==(const HistogramBin&) const = default;
};

struct ExponentHistogram {
    std::vector<HistogramBin> bins;  // ascending, none empty

    [[nodiscard]] std::uint64_t count() const;
    [[nodiscard]] std::string to_blob() const;  // little-endian varints; empty for no bins
    /// An error for bytes that no histogram gives (damaged file).
    static Result<ExponentHistogram> from_blob(std::string_view blob);
    bool operator==(const ExponentHistogram&) const = default;
};

/// Lower edge of a bin, a float32 value; the upper edge is that of the next bin.
[[nodiscard]] double bin_edge(int index);

}  // namespace mantissa
