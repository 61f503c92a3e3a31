#include "numerics/value_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "torch_pch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define MANTISSA_AVX2 __attribute__((target("avx2,f16c")))
#endif

namespace mantissa::blocks {
namespace {

constexpr std::uint32_t magnitude_mask = 0x7FFFFFFFU, infinity_bits = 0x7F800000U, minus_infinity_bits = 0xFF800000U;
constexpr std::size_t lanes = 8;

/// Where a vector's way to a key doesn't hold.
void find_keys(const float* values, std::size_t count, std::uint32_t* keys) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = key_of(std::bit_cast<std::uint32_t>(values[i]) & magnitude_mask);
}

#if defined(__x86_64__)

bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
    return has;
}

MANTISSA_AVX2 std::uint32_t largest_of(__m256i values) {
    alignas(32) std::array<std::uint32_t, lanes> lane;
    _mm256_store_si256(reinterpret_cast<__m256i*>(lane.data()), values);
    return *std::max_element(lane.begin(), lane.end());
}

MANTISSA_AVX2 std::uint32_t smallest_of(__m256i values) {
    alignas(32) std::array<std::uint32_t, lanes> lane;
    _mm256_store_si256(reinterpret_cast<__m256i*>(lane.data()), values);
    return *std::min_element(lane.begin(), lane.end());
}

MANTISSA_AVX2 std::uint64_t sum_of(__m256i values) {
    alignas(32) std::array<std::uint32_t, lanes> lane;
    _mm256_store_si256(reinterpret_cast<__m256i*>(lane.data()), values);
    std::uint64_t sum = 0;
    for (const std::uint32_t one : lane) sum += one;
    return sum;
}

/// `count` is a multiple of eight. Comparisons give −1, so a count is a subtraction.
MANTISSA_AVX2 void look_avx2(const float* values, std::size_t count, Sums& sums, std::uint32_t* keys) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int>(magnitude_mask)), infinity = _mm256_set1_epi32(static_cast<int>(infinity_bits));
    const __m256i minus_infinity = _mm256_set1_epi32(static_cast<int>(minus_infinity_bits)), low = _mm256_set1_epi32(0x7FFFF);
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
    const __m256i mantissa = _mm256_set1_epi32(0x7F'FFFF), undivided = _mm256_set1_epi32(static_cast<int>(first_divided_mantissa) - 1);
    const __m256d magnitude_of_double = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7FFFFFFFFFFFFFFFLL));
    __m256i largest = _mm256_set1_epi32(static_cast<int>(sums.largest_bits)), smallest = _mm256_set1_epi32(0x7FFF'FFFF);
    __m256i negative = zero, neg_inf = zero;
    __m256d sum_low = _mm256_loadu_pd(sums.sum.data()), sum_high = _mm256_loadu_pd(sums.sum.data() + 4);
    __m256d magnitude_low = _mm256_loadu_pd(sums.magnitude.data()), magnitude_high = _mm256_loadu_pd(sums.magnitude.data() + 4);
    __m256d square_low = _mm256_loadu_pd(sums.square.data()), square_high = _mm256_loadu_pd(sums.square.data() + 4);
    for (std::size_t i = 0; i < count; i += lanes) {
        const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i));
        const __m256i magnitude = _mm256_and_si256(bits, mask);
        const __m256i is_finite = _mm256_cmpgt_epi32(infinity, magnitude), is_zero = _mm256_cmpeq_epi32(magnitude, zero);
        const __m256i is_edge = _mm256_cmpeq_epi32(_mm256_and_si256(magnitude, low), zero);
        const __m256i key = _mm256_add_epi32(_mm256_slli_epi32(_mm256_srli_epi32(magnitude, 19), 1), _mm256_add_epi32(is_edge, one));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(keys + i), key);
        // One value in two hundred lies so near below a power of two.
        const __m256i is_part = _mm256_cmpgt_epi32(_mm256_and_si256(magnitude, mantissa), undivided);
        if (_mm256_movemask_epi8(is_part) != 0) [[unlikely]] find_keys(values + i, lanes, keys + i);
        largest = _mm256_max_epu32(largest, _mm256_and_si256(magnitude, is_finite));
        smallest = _mm256_min_epu32(smallest, _mm256_or_si256(magnitude, _mm256_srli_epi32(is_zero, 1)));
        negative = _mm256_sub_epi32(negative, _mm256_and_si256(_mm256_srai_epi32(bits, 31), _mm256_andnot_si256(is_zero, is_finite)));
        neg_inf = _mm256_sub_epi32(neg_inf, _mm256_cmpeq_epi32(bits, minus_infinity));
        const __m256 finite = _mm256_castsi256_ps(_mm256_and_si256(bits, is_finite));
        const __m256d first = _mm256_cvtps_pd(_mm256_castps256_ps128(finite)), second = _mm256_cvtps_pd(_mm256_extractf128_ps(finite, 1));
        sum_low = _mm256_add_pd(sum_low, first);
        sum_high = _mm256_add_pd(sum_high, second);
        magnitude_low = _mm256_add_pd(magnitude_low, _mm256_and_pd(first, magnitude_of_double));
        magnitude_high = _mm256_add_pd(magnitude_high, _mm256_and_pd(second, magnitude_of_double));
        square_low = _mm256_add_pd(square_low, _mm256_mul_pd(first, first));
        square_high = _mm256_add_pd(square_high, _mm256_mul_pd(second, second));
    }
    _mm256_storeu_pd(sums.sum.data(), sum_low);
    _mm256_storeu_pd(sums.sum.data() + 4, sum_high);
    _mm256_storeu_pd(sums.magnitude.data(), magnitude_low);
    _mm256_storeu_pd(sums.magnitude.data() + 4, magnitude_high);
    _mm256_storeu_pd(sums.square.data(), square_low);
    _mm256_storeu_pd(sums.square.data() + 4, square_high);
    sums.largest_bits = largest_of(largest);
    const std::uint32_t smallest_bits = smallest_of(smallest);
    if (smallest_bits < first_normal_bits) find_keys(values, count, keys);
    sums.smallest_bits = std::min(sums.smallest_bits, smallest_bits);
    sums.negative += sum_of(negative);
    sums.neg_inf += sum_of(neg_inf);
}

/// `count` is a multiple of eight and at most 2^31, so that no lane of the count overflows.
MANTISSA_AVX2 Extreme extreme_avx2(const float* values, std::size_t count) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int>(magnitude_mask)), infinity = _mm256_set1_epi32(static_cast<int>(infinity_bits));
    __m256i largest = _mm256_setzero_si256(), finite = _mm256_setzero_si256();
    for (std::size_t i = 0; i < count; i += lanes) {
        const __m256i magnitude = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i)), mask);
        const __m256i is_finite = _mm256_cmpgt_epi32(infinity, magnitude);
        largest = _mm256_max_epu32(largest, _mm256_and_si256(magnitude, is_finite));
        finite = _mm256_sub_epi32(finite, is_finite);
    }
    return {largest_of(largest), count - sum_of(finite)};
}

MANTISSA_AVX2 void half_to_float_avx2(const std::uint16_t* values, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; i += lanes)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i))));
}

#else
bool has_avx2() { return false; }
void look_avx2(const float* values, std::size_t count, Sums& sums, std::uint32_t* keys) { plain::look(values, count, sums, keys); }
Extreme extreme_avx2(const float* values, std::size_t count) { return plain::extreme_of(values, count); }
void half_to_float_avx2(const std::uint16_t* values, std::size_t count, float* out) { plain::half_to_float(values, count, out); }
#endif

}  // namespace

double total(const std::array<double, 8>& lane) {
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

namespace plain {

void look(const float* values, std::size_t count, Sums& sums, std::uint32_t* keys) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(values[i]);
        const std::uint32_t magnitude = bits & magnitude_mask;
        keys[i] = key_of(magnitude);
        if (magnitude >= infinity_bits) {
            sums.neg_inf += bits == minus_infinity_bits ? 1 : 0;
            continue;
        }
        if (magnitude == 0) continue;
        sums.largest_bits = std::max(sums.largest_bits, magnitude);
        sums.smallest_bits = std::min(sums.smallest_bits, magnitude);
        sums.negative += bits >> 31;
        const double value = values[i];
        sums.sum[i % lanes] += value;
        sums.magnitude[i % lanes] += std::bit_cast<float>(magnitude);
        sums.square[i % lanes] += value * value;
    }
}

Extreme extreme_of(const float* values, std::size_t count) {
    Extreme extreme;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(values[i]) & magnitude_mask;
        if (magnitude >= infinity_bits)
            ++extreme.nonfinite;
        else
            extreme.largest_bits = std::max(extreme.largest_bits, magnitude);
    }
    return extreme;
}

void half_to_float(const std::uint16_t* values, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = c10::detail::fp16_ieee_to_fp32_value(values[i]);
}

}  // namespace plain

void look(const float* values, std::size_t count, Sums& sums, std::uint32_t* keys) {
    if (!has_avx2()) return plain::look(values, count, sums, keys);
    const std::size_t whole = count / lanes * lanes;
    look_avx2(values, whole, sums, keys);
    if (whole == count) return;
    // Zeros fill the last eight up: they change nothing but keys that nobody reads.
    std::array<float, lanes> rest{};
    std::copy(values + whole, values + count, rest.begin());
    look_avx2(rest.data(), lanes, sums, keys + whole);
}

Extreme extreme_of(const float* values, std::size_t count) {
    if (!has_avx2()) return plain::extreme_of(values, count);
    constexpr std::size_t piece = std::size_t{1} << 30;
    Extreme extreme;
    const auto take = [&extreme](const Extreme& one) {
        extreme.largest_bits = std::max(extreme.largest_bits, one.largest_bits);
        extreme.nonfinite += one.nonfinite;
    };
    const std::size_t whole = count / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += piece) take(extreme_avx2(values + i, std::min(piece, whole - i)));
    take(plain::extreme_of(values + whole, count - whole));
    return extreme;
}

void half_to_float(const std::uint16_t* values, std::size_t count, float* out) {
    const std::size_t whole = has_avx2() ? count / lanes * lanes : 0;
    half_to_float_avx2(values, whole, out);
    plain::half_to_float(values + whole, count - whole, out + whole);
}

void bfloat16_to_float(const std::uint16_t* values, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = std::bit_cast<float>(std::uint32_t{values[i]} << 16);
}

KeyCounts::KeyCounts() : m_tables(std::make_unique<std::uint32_t[]>(4 * key_limit)) {}

void KeyCounts::add(const std::uint32_t* keys_of_values, std::size_t count) {
    if (m_since_spill + count > 0xFFFF'0000U) spill();
    m_since_spill += count;
    std::uint32_t* const tables = m_tables.get();
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        ++tables[4 * keys_of_values[i]];
        ++tables[4 * keys_of_values[i + 1] + 1];
        ++tables[4 * keys_of_values[i + 2] + 2];
        ++tables[4 * keys_of_values[i + 3] + 3];
    }
    for (; i < count; ++i) ++tables[4 * keys_of_values[i]];
}

void KeyCounts::spill() {
    if (!m_spilled) m_spilled = std::make_unique<std::uint64_t[]>(key_limit);
    for (std::size_t place = 0; place < 4 * key_limit; ++place) {
        m_spilled[place / 4] += m_tables[place];
        m_tables[place] = 0;
    }
    m_since_spill = 0;
}

std::uint64_t KeyCounts::take(std::uint32_t key) {
    std::uint32_t* const counts = m_tables.get() + std::size_t{4} * key;
    std::uint64_t count = std::uint64_t{counts[0]} + counts[1] + counts[2] + counts[3];
    if (count > 0) std::fill_n(counts, 4, 0U);  // of a small tensor most are 0 already
    if (m_spilled) count += std::exchange(m_spilled[key], 0U);
    return count;
}

}  // namespace mantissa::blocks
