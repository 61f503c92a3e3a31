#pragma once
// Where a packed tensor record keeps its figures and counts (numerics/tensor_record.h), and the bin of one float32 in integers alone: the
// same lines are compiled for the CPU and, by core/cuda, for a GPU. Only <cstdint> and <cstring>: a CUDA compiler reads this.
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define MANTISSA_BOTH_SIDES __host__ __device__
#else
#define MANTISSA_BOTH_SIDES
#endif

namespace mantissa::packed_layout {

enum Figure { negative, neg_inf, largest, smallest, sum, magnitude, square, unit, subnormal_doubles, asked, unmoved, figures };

/// Counts lie by bin, twice each (on edge, inside); before them those of 0, behind them Inf and NaN, which look like one exponent more.
inline constexpr int places_per_exponent = 2 * 20, exponents = 277;
inline constexpr int zeros = 0, first_bin = places_per_exponent, infinities = first_bin + exponents * places_per_exponent;
inline constexpr int counts_end = infinities + places_per_exponent;

/// The place of a value whose magnitude has these bits (the sign taken away).
[[nodiscard]] MANTISSA_BOTH_SIDES inline int place_of(std::uint32_t bits) {
    constexpr std::uint32_t mantissa_mask = 0x7F'FFFFU;
    std::uint32_t exponent = (bits >> 23) + 23, mantissa = bits & mantissa_mask;  // 24 for 2^-126: the 24th exponent from 2^-149 on
    if (bits <= mantissa_mask) {
        // The bits of a subnormal number, as a number: a float that is normalised.
        const float number = static_cast<float>(bits);
        std::uint32_t normalised = 0;
        std::memcpy(&normalised, &number, sizeof number);
        exponent = bits == 0 ? 0 : (normalised >> 23) - 126;
        mantissa = bits == 0 ? 0 : normalised & mantissa_mask;
    }
    // The last sixteenth is divided where fp16 and bf16 begin to be normal and to overflow.
    const std::uint32_t parts = (mantissa >= 0x7F'0000U ? 1U : 0U) + (mantissa >= 0x7F'8000U ? 1U : 0U) +
                                (mantissa >= 0x7F'E000U ? 1U : 0U) + (mantissa >= 0x7F'F000U ? 1U : 0U);
    const std::uint32_t inside = (mantissa & 0x7'FFFFU) != 0 ? 1U : 0U;
    return static_cast<int>(exponent * places_per_exponent + 2 * ((mantissa >> 19) + parts) + inside);
}

}  // namespace mantissa::packed_layout
