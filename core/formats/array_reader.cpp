#include "formats/array_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

namespace mantissa {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 47;
constexpr std::size_t block_bytes = 256 * 1024;
constexpr double exact_whole = 9007199254740992.0;  // 2^53: the first that another whole number is rounded to

double half_to_double(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The element's bytes as a whole number, in the machine's order (the bits of whatever type it is).
template <typename Bits>
Bits bits_at(const unsigned char* at, bool is_big_endian) {
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(Bits); ++i) {
        const std::size_t place = is_big_endian ? sizeof(Bits) - 1 - i : i;
        bits = static_cast<Bits>(bits | static_cast<Bits>(static_cast<Bits>(at[i]) << (8 * place)));
    }
    return bits;
}

double value_at(const unsigned char* at, ElementType type, bool big) {
    switch (type) {
        case ElementType::F64: return std::bit_cast<double>(bits_at<std::uint64_t>(at, big));
        case ElementType::F32: return std::bit_cast<float>(bits_at<std::uint32_t>(at, big));
        case ElementType::F16: return half_to_double(bits_at<std::uint16_t>(at, big));
        case ElementType::BF16: return std::bit_cast<float>(static_cast<std::uint32_t>(bits_at<std::uint16_t>(at, big)) << 16);
        case ElementType::I64: return static_cast<double>(static_cast<std::int64_t>(bits_at<std::uint64_t>(at, big)));
        case ElementType::I32: return static_cast<std::int32_t>(bits_at<std::uint32_t>(at, big));
        case ElementType::I16: return static_cast<std::int16_t>(bits_at<std::uint16_t>(at, big));
        case ElementType::I8: return static_cast<std::int8_t>(*at);
        case ElementType::U64: return static_cast<double>(bits_at<std::uint64_t>(at, big));
        case ElementType::U32: return bits_at<std::uint32_t>(at, big);
        case ElementType::U16: return bits_at<std::uint16_t>(at, big);
        case ElementType::U8: return *at;
        case ElementType::Bool: return *at != 0 ? 1 : 0;
    }
    return 0;
}

bool is_wide_whole(ElementType type) { return type == ElementType::I64 || type == ElementType::U64; }

}  // namespace

const char* to_string(ElementType type) {
    switch (type) {
        case ElementType::F64: return "float64";
        case ElementType::F32: return "float32";
        case ElementType::F16: return "float16";
        case ElementType::BF16: return "bfloat16";
        case ElementType::I64: return "int64";
        case ElementType::I32: return "int32";
        case ElementType::I16: return "int16";
        case ElementType::I8: return "int8";
        case ElementType::U64: return "uint64";
        case ElementType::U32: return "uint32";
        case ElementType::U16: return "uint16";
        case ElementType::U8: return "uint8";
        case ElementType::Bool: return "bool";
    }
    return "";
}

std::size_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::F64:
        case ElementType::I64:
        case ElementType::U64: return 8;
        case ElementType::F32:
        case ElementType::I32:
        case ElementType::U32: return 4;
        case ElementType::F16:
        case ElementType::BF16:
        case ElementType::I16:
        case ElementType::U16: return 2;
        case ElementType::I8:
        case ElementType::U8:
        case ElementType::Bool: return 1;
    }
    return 1;
}

std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape) {
    std::int64_t product = 1;
    for (const std::int64_t size : shape) {
        if (size < 0 || (size > 0 && product > most_elements / size)) return std::nullopt;
        product *= size;
    }
    return product;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    if (shape.empty()) return "one number";
    std::string text;
    for (const std::int64_t size : shape) text += (text.empty() ? "" : " × ") + std::to_string(size);
    return text;
}

ArrayReader::ArrayReader(std::unique_ptr<ByteReader> bytes, ElementType type, bool is_big_endian, std::vector<std::int64_t> shape)
    : m_bytes(std::move(bytes)), m_type(type), m_is_big_endian(is_big_endian), m_shape(std::move(shape)), m_elements(elements_of(m_shape).value_or(0)) {}

Result<void> ArrayReader::read(std::int64_t count, double* to) {
    MANTISSA_ASSERT(count >= 0 && count <= m_elements - m_given);
    const std::size_t size = bytes_of(m_type);
    const auto at_once = static_cast<std::int64_t>(block_bytes / size);
    m_block.resize(block_bytes);
    while (count > 0) {
        const std::int64_t now = std::min(count, at_once);
        if (auto done = m_bytes->read_whole(m_block.data(), static_cast<std::size_t>(now) * size, "its elements"); !done) return done;
        for (std::int64_t i = 0; i < now; ++i) {
            to[i] = value_at(m_block.data() + static_cast<std::size_t>(i) * size, m_type, m_is_big_endian);
            if (is_wide_whole(m_type) && std::abs(to[i]) >= exact_whole)
                return error("element " + std::to_string(m_given + i) + " is a whole number of 2^53 or more, which a double doesn't hold exactly");
        }
        to += now;
        m_given += now;
        count -= now;
    }
    return {};
}

Result<void> ArrayReader::expect_end() {
    char more = 0;
    const auto got = m_bytes->read(&more, 1);
    if (!got) return got.error();
    if (*got == 0) return {};
    return error("goes on after its last element, at byte " + std::to_string(m_bytes->position() - 1), "its sizes and its content don't agree: the file is damaged");
}

}  // namespace mantissa
