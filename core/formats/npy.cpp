#include <cctype>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "formats/array_reader.h"

namespace mantissa {
namespace {

constexpr std::size_t longest_header = 64 * 1024;

struct NpyHeader {
    std::string descr, order;
    std::vector<std::int64_t> shape;
};

/// The header is a Python dict of three entries as repr() writes it, in any order; nothing else is taken.
class HeaderParser {
  public:
    explicit HeaderParser(std::string_view text) : m_text(text) {}
    /// Nothing: it isn't such a dict, at `at()`.
    std::optional<NpyHeader> parse();
    [[nodiscard]] std::size_t at() const { return m_at; }

  private:
    void skip_space() {
        while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at]))) ++m_at;
    }
    bool take(char c) {
        skip_space();
        if (m_at >= m_text.size() || m_text[m_at] != c) return false;
        ++m_at;
        return true;
    }
    std::optional<std::string> quoted();
    std::optional<std::string> word();
    std::optional<std::vector<std::int64_t>> tuple();

    std::string_view m_text;
    std::size_t m_at = 0;
};

std::optional<std::string> HeaderParser::quoted() {
    skip_space();
    if (m_at >= m_text.size() || (m_text[m_at] != '\'' && m_text[m_at] != '"')) return std::nullopt;
    const std::size_t end = m_text.find(m_text[m_at], m_at + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(m_text.substr(m_at + 1, end - m_at - 1));
    m_at = end + 1;
    return text;
}

std::optional<std::string> HeaderParser::word() {
    skip_space();
    std::size_t end = m_at;
    while (end < m_text.size() && std::isalnum(static_cast<unsigned char>(m_text[end]))) ++end;
    if (end == m_at) return std::nullopt;
    std::string text(m_text.substr(m_at, end - m_at));
    m_at = end;
    return text;
}

std::optional<std::vector<std::int64_t>> HeaderParser::tuple() {
    if (!take('(')) return std::nullopt;
    std::vector<std::int64_t> sizes;
    while (!take(')')) {
        const auto text = word();
        const auto size = text ? parse_int(*text) : std::nullopt;
        if (!size || *size < 0 || sizes.size() >= 8) return std::nullopt;
        sizes.push_back(*size);
        if (!take(',')) {
            if (!take(')')) return std::nullopt;
            break;
        }
    }
    return sizes;
}

std::optional<NpyHeader> HeaderParser::parse() {
    NpyHeader header;
    bool has_shape = false;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
        const auto key = quoted();
        if (!key || !take(':')) return std::nullopt;
        std::optional<std::string> text;
        if (*key == "descr") {
            if (!(text = quoted())) return std::nullopt;
            header.descr = *text;
        } else if (*key == "fortran_order") {
            if (!(text = word())) return std::nullopt;
            header.order = *text;
        } else if (*key == "shape") {
            auto shape = tuple();
            if (!shape) return std::nullopt;
            header.shape = std::move(*shape);
            has_shape = true;
        } else {
            return std::nullopt;
        }
        if (!take(',')) {
            if (!take('}')) return std::nullopt;
            break;
        }
    }
    skip_space();
    const bool is_whole = m_at == m_text.size() && has_shape && !header.descr.empty() && (header.order == "False" || header.order == "True");
    return is_whole ? std::optional(std::move(header)) : std::nullopt;
}

std::optional<ElementType> type_of(std::string_view letter_and_size) {
    static const std::map<std::string_view, ElementType> known{
        {"f8", ElementType::F64}, {"f4", ElementType::F32}, {"f2", ElementType::F16}, {"i8", ElementType::I64}, {"i4", ElementType::I32}, {"i2", ElementType::I16},
        {"i1", ElementType::I8},  {"u8", ElementType::U64}, {"u4", ElementType::U32}, {"u2", ElementType::U16}, {"u1", ElementType::U8},  {"b1", ElementType::Bool}};
    const auto found = known.find(letter_and_size);
    return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::string shown(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    return text.substr(0, 40);
}

Result<std::string> read_header(ByteReader& bytes) {
    unsigned char start[12] = {};
    if (auto done = bytes.read_whole(start, 8, "the npy header"); !done) return done.error();
    if (std::memcmp(start, "\x93NUMPY", 6) != 0) return bytes.error("is no npy array: it doesn't begin with its magic bytes");
    const int version = start[6];
    if (version < 1 || version > 3) return bytes.error("byte 6: version " + std::to_string(version) + " of npy, 1 to 3 can be read");
    const std::size_t width = version == 1 ? 2 : 4;
    if (auto done = bytes.read_whole(start + 8, width, "the npy header"); !done) return done.error();
    std::size_t size = 0;
    for (std::size_t i = 0; i < width; ++i) size |= static_cast<std::size_t>(start[8 + i]) << (8 * i);
    if (size > longest_header) return bytes.error("byte 8: a header of " + std::to_string(size) + " bytes, " + std::to_string(longest_header) + " are the most");
    std::string text(size, '\0');
    if (auto done = bytes.read_whole(text.data(), size, "the npy header"); !done) return done.error();
    return text;
}

}  // namespace

Result<ArrayReader> open_npy(std::unique_ptr<ByteReader> bytes) {
    const auto text = read_header(*bytes);
    if (!text) return text.error();
    HeaderParser parser(*text);
    const auto header = parser.parse();
    if (!header) return bytes->error("byte " + std::to_string(bytes->position() - text->size() + parser.at()) + ": the npy header is none that numpy writes");
    const char order = header->descr.front();
    const auto type = type_of(std::string_view(header->descr).substr(1));
    if (!type || std::string_view("<>|=").find(order) == std::string_view::npos)
        return bytes->error("holds elements of type '" + shown(header->descr) + "', which are no numbers that can be read here",
                            header->descr.find('O') != std::string::npos ? "Python objects are never unpickled: save an array of numbers" : "save it as float32 or a whole number");
    if (header->order == "True" && header->shape.size() > 1)
        return bytes->error("is stored column by column (fortran_order)", "save numpy.ascontiguousarray(x)");
    if (!elements_of(header->shape)) return bytes->error("says that it holds " + shape_text(header->shape) + " numbers, more than any file can");
    return ArrayReader(std::move(bytes), *type, order == '>', header->shape);
}

Result<ArrayReader> open_npy(const std::filesystem::path& path) {
    auto bytes = open_bytes(path);
    if (!bytes) return bytes.error();
    return open_npy(std::move(*bytes));
}

}  // namespace mantissa
