#pragma once
// The inner loops of tensor records: plain arrays in, sums and keys out. A kernel for AVX2 and one in plain C++ give the same bits,
// sums included (eight lanes each, added in the same order), so a recording doesn't depend on the CPU that made it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <bit>
#include <memory>

#include "record/exponent_histogram.h"

namespace mantissa::blocks {

/// Values that are converted and looked at together: what a first-level cache holds beside the count tables.
inline constexpr std::size_t block_values = 2048;

/// A key tells the bin of ExponentHistogram and whether a value lies inside it (odd) or on its lower edge (even). Nearly all values have the
/// first eighteen bits of their float32 as key, 0, Inf and NaN too; those of subnormal numbers and of the divided end of a last sixteenth,
/// which are few, stand behind.
inline constexpr std::uint32_t infinity_key = 0xFF0U * 2, part_keys = 8192, subnormal_keys = part_keys + 256 * 4;
inline constexpr std::size_t key_limit = subnormal_keys + 23 * 2 * bins_per_exponent;
inline constexpr std::uint32_t first_normal_bits = 0x80'0000U, first_divided_mantissa = 0x7F'0000U;

/// Which part of its sixteenth a mantissa of 23 bits lies in; 0: the undivided rest.
[[nodiscard]] constexpr std::uint32_t part_of(std::uint32_t mantissa) {
    std::uint32_t part = 0;
    for (const std::uint32_t border : {first_divided_mantissa, 0x7F'8000U, 0x7F'E000U, 0x7F'F000U}) part += mantissa >= border ? 1 : 0;
    return part;
}
[[nodiscard]] constexpr std::uint32_t key_of(std::uint32_t magnitude_bits) {
    const auto is_inside = [](std::uint32_t bits) { return (bits & 0x7'FFFFU) != 0 ? 1U : 0U; };
    if (magnitude_bits != 0 && magnitude_bits < first_normal_bits) {
        const auto width = static_cast<std::uint32_t>(std::bit_width(magnitude_bits));
        const std::uint32_t mantissa = (magnitude_bits << (24 - width)) & 0x7F'FFFFU;
        const std::uint32_t bin = (width - 1) * bins_per_exponent + (mantissa >> 19) + part_of(mantissa);
        return subnormal_keys + 2 * bin + is_inside(mantissa);
    }
    const std::uint32_t part = part_of(magnitude_bits & 0x7F'FFFFU);
    if (part > 0 && magnitude_bits < 0x7F80'0000U) return part_keys + (magnitude_bits >> 23) * 4 + part - 1;
    return (magnitude_bits >> 19) * 2 + is_inside(magnitude_bits);
}
/// Of the values inside a bin; those on its edge, where it tells them apart, have the key before.
[[nodiscard]] constexpr std::uint32_t inside_key(std::uint32_t bin) {
    constexpr std::uint32_t subnormal_exponents = 23;
    const std::uint32_t exponent = bin / bins_per_exponent, place = bin % bins_per_exponent;
    if (exponent < subnormal_exponents) return subnormal_keys + 2 * bin + 1;
    const std::uint32_t field = exponent - subnormal_exponents + 1;
    return place < 16 ? (field * 16 + place) * 2 + 1 : part_keys + field * 4 + place - 16;
}

/// What is added up over the blocks of one tensor. Sums are of finite values, the counts of signs of finite ones that are not 0.
struct Sums {
    std::array<double, 8> sum{}, magnitude{}, square{};
    std::uint32_t largest_bits = 0, smallest_bits = 0x7FFFFFFFU;  // of finite magnitudes; the smallest of those that are not 0
    std::uint64_t negative = 0, neg_inf = 0;
};
[[nodiscard]] double total(const std::array<double, 8>& lanes);

/// Adds `count` values to the sums and writes their keys. `keys` has room for `count` rounded up to a multiple of 8.
void look(const float* values, std::size_t count, Sums& sums, std::uint32_t* keys);

struct Extreme {
    std::uint32_t largest_bits = 0;  // of finite magnitudes
    std::uint64_t nonfinite = 0;
};
/// Level 0: of every length.
[[nodiscard]] Extreme extreme_of(const float* values, std::size_t count);

void half_to_float(const std::uint16_t* values, std::size_t count, float* out);
void bfloat16_to_float(const std::uint16_t* values, std::size_t count, float* out);

/// The plain kernels, for the test that both give the same bits.
namespace plain {
void look(const float* values, std::size_t count, Sums& sums, std::uint32_t* keys);
[[nodiscard]] Extreme extreme_of(const float* values, std::size_t count);
void half_to_float(const std::uint16_t* values, std::size_t count, float* out);
}  // namespace plain

/// Counts of keys. Neighbours of a tensor are often equal (zeros, NaN): four tables in turn, so that an addition doesn't wait for the
/// one before it.
class KeyCounts {
  public:
    KeyCounts();
    void add(const std::uint32_t* keys, std::size_t count);
    /// The count of a key so far, which is forgotten.
    [[nodiscard]] std::uint64_t take(std::uint32_t key);

  private:
    void spill();
    std::unique_ptr<std::uint32_t[]> m_tables;  // key_limit × 4: a key's four counts lie side by side
    std::unique_ptr<std::uint64_t[]> m_spilled;  // of tensors so long that 32 bits don't hold them; else null
    std::uint64_t m_since_spill = 0;
};

}  // namespace mantissa::blocks
