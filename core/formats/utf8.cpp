#include "formats/utf8.h"

namespace mantissa {
namespace {

struct Lead {
    std::size_t length;
    char32_t bits, smallest;
};

std::optional<Lead> lead_of(unsigned char byte) {
    if (byte < 0x80) return Lead{1, byte, 0};
    if (byte >= 0xC2 && byte < 0xE0) return Lead{2, byte & 0x1Fu, 0x80};
    if (byte >= 0xE0 && byte < 0xF0) return Lead{3, byte & 0x0Fu, 0x800};
    if (byte >= 0xF0 && byte < 0xF5) return Lead{4, byte & 0x07u, 0x10000};
    return std::nullopt;
}

}  // namespace

std::optional<char32_t> next_character(std::string_view text, std::size_t& at) {
    if (at >= text.size()) return std::nullopt;
    const auto lead = lead_of(static_cast<unsigned char>(text[at]));
    if (!lead || lead->length > text.size() - at) return std::nullopt;
    char32_t character = lead->bits;
    for (std::size_t i = 1; i < lead->length; ++i) {
        const auto byte = static_cast<unsigned char>(text[at + i]);
        if ((byte & 0xC0) != 0x80) return std::nullopt;
        character = character << 6 | (byte & 0x3Fu);
    }
    if (character < lead->smallest || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) return std::nullopt;
    at += lead->length;
    return character;
}

std::optional<std::size_t> first_bad_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size())
        if (!next_character(text, at)) return at;
    return std::nullopt;
}

std::string to_utf8(char32_t character) {
    const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
    if (character < 0x80) return {byte(character)};
    if (character < 0x800) return {byte(0xC0 | character >> 6), byte(0x80 | (character & 0x3F))};
    if (character < 0x10000) return {byte(0xE0 | character >> 12), byte(0x80 | (character >> 6 & 0x3F)), byte(0x80 | (character & 0x3F))};
    return {byte(0xF0 | character >> 18), byte(0x80 | (character >> 12 & 0x3F)), byte(0x80 | (character >> 6 & 0x3F)), byte(0x80 | (character & 0x3F))};
}

}  // namespace mantissa
