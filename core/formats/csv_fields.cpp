#include "formats/csv_fields.h"

#include <algorithm>

#include "base/numbers.h"
#include "formats/utf8.h"

namespace mantissa::formats {
namespace {

// From the opening quote on; `at` stands behind the closing one afterwards.
std::optional<FieldProblem> take_quoted(std::string_view line, char separator, std::size_t& at, std::vector<std::string>& fields) {
    std::string field;
    for (++at; at < line.size(); ++at) {
        if (line[at] != '"') {
            field += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
            field += line[++at];
        } else {
            ++at;
            if (at < line.size() && line[at] != separator) return FieldProblem{FieldProblem::TextAfterQuote, fields.size()};
            fields.push_back(std::move(field));
            return std::nullopt;
        }
    }
    return FieldProblem{FieldProblem::OpenQuote, fields.size()};
}

}  // namespace

std::optional<FieldProblem> split_fields(std::string_view line, char separator, std::int64_t most, std::vector<std::string>& fields) {
    fields.clear();
    std::size_t at = 0;
    for (;;) {
        if (static_cast<std::int64_t>(fields.size()) >= most) return FieldProblem{FieldProblem::TooManyFields, fields.size()};
        if (at < line.size() && line[at] == '"') {
            if (const auto problem = take_quoted(line, separator, at, fields)) return problem;
        } else {
            const std::size_t end = std::min(line.find(separator, at), line.size());
            fields.emplace_back(line.substr(at, end - at));
            at = end;
        }
        if (at >= line.size()) return std::nullopt;
        ++at;  // the separator
    }
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> number_of(std::string_view field) {
    std::string_view text = trimmed(field);
    if (!text.empty() && text.front() == '+') {
        text.remove_prefix(1);
        if (!text.empty() && (text.front() == '+' || text.front() == '-')) return std::nullopt;
    }
    return parse_double(text);
}

std::string shown_field(std::string_view text) {
    std::string result;
    std::size_t letters = 0, at = 0;
    for (; at < text.size() && letters < 40; ++letters) {
        const std::size_t begin = at;
        const auto letter = next_character(text, at);
        if (!letter) ++at;
        if (!letter || *letter < 0x20 || (*letter >= 0x7f && *letter < 0xa0)) result += '?';
        else result += text.substr(begin, at - begin);
    }
    return "'" + result + (at < text.size() ? "…'" : "'");
}

}  // namespace mantissa::formats
