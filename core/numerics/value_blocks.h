#pragma once
// The inner loops of tensor records: plain arrays in, sums and keys out. A kernel for AVX2 and one in plain C++ give the same bits,
// sums included (eight lanes each, added in the same order), so a recording doesn't depend on the CPU that made it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace mantissa::blocks {

/// Values that are converted and looked at together: what a first-level cache holds beside the count tables.
inline constexpr std::size_t block_values = 2048;

/// A key is a bin of ExponentHistogram and whether the value lies inside it (odd) or on its lower edge (even).
inline constexpr std::size_t key_limit = 8192;
inline constexpr std::uint32_t infinity_key = 0xFF0U * 2;
[[nodiscard]] constexpr std::uint32_t key_of(std::uint32_t magnitude_bits) {
    return (magnitude_bits >> 19) * 2 + ((magnitude_bits & 0x7FFFFU) != 0 ? 1 : 0);
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
    std::unique_ptr<std::uint32_t[]> m_tables;  // 4 × key_limit
    std::unique_ptr<std::uint64_t[]> m_spilled;  // of tensors so long that 32 bits don't hold them; else null
    std::uint64_t m_since_spill = 0;
};

}  // namespace mantissa::blocks
