#include "formats/table_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/csv_fields.h"
#include "formats/utf8.h"

namespace mantissa {

using formats::FieldProblem;
using formats::number_of;
using formats::split_fields;
using formats::TextSource;
using formats::trimmed;

namespace {

constexpr std::size_t lines_looked_at = 20;
constexpr std::size_t longest_row = 16u << 20;
constexpr std::array<char, 4> separators{',', ';', '\t', '|'};

const char* name_of(char separator) {
    switch (separator) {
        case ',': return "comma";
        case ';': return "semicolon";
        case '\t': return "tab";
        default: return "bar";
    }
}

}  // namespace

bool is_missing(std::string_view field) {
    static constexpr std::array<std::string_view, 10> words{"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?"};
    return std::find(words.begin(), words.end(), field) != words.end();
}

bool nearly_a_table(std::string_view start) {
    for (const char candidate : separators) {
        std::vector<std::string> fields;
        std::size_t first = 0, lines = 0, alike = 0, numbers = 0, all = 0;
        for (std::size_t at = 0; at < start.size() && lines < lines_looked_at;) {
            const std::size_t end = std::min(start.find('\n', at), start.size());
            const std::string_view line = start.substr(at, end - at);
            at = end + 1;
            if (trimmed(line).empty() || split_fields(line, candidate, 1000, fields)) continue;
            if (lines++ == 0) {
                first = fields.size();
                if (first < 2) break;
                continue;
            }
            alike += fields.size() == first ? 1 : 0;
            all += fields.size();
            numbers += static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), [](const std::string& field) { return number_of(field) || trimmed(field).empty(); }));
        }
        if (first >= 2 && lines > 1 && alike * 2 >= lines - 1 && numbers * 2 >= all) return true;
    }
    return false;
}

TableReader::TableReader(TextSource source, std::filesystem::path path, const TableOptions& options)
    : m_source(std::move(source)), m_path(std::move(path)), m_options(options) {}

Result<TableReader> TableReader::open(const std::filesystem::path& path, const TableOptions& options) {
    auto source = TextSource::open(path, {.line_bytes = longest_row, .total_bytes = options.most_bytes});
    if (!source) return source.error();
    TableReader reader(std::move(*source), path, options);
    if (auto done = reader.look_ahead(); !done) return done.error();
    if (auto done = reader.find_separator(); !done) return done.error();
    if (auto done = reader.find_header(); !done) return done.error();
    return reader;
}

Error TableReader::error(std::size_t column, const std::string& what, const std::string& hint) const {
    const bool is_named = m_has_header && column < m_names.size();
    return {ErrorCode::InputOutput,
            m_path.string() + " line " + std::to_string(m_row_line) + ", column " + std::to_string(column + 1) + (is_named ? " (" + m_names[column] + ")" : "") + ": " + what, hint};
}

Error TableReader::error_in_line(const std::string& what, const std::string& hint) const {
    return {ErrorCode::InputOutput, m_path.string() + " line " + std::to_string(m_row_line) + ": " + what, hint};
}

// A row: one line, or several where a quoted field holds line breaks.
Result<std::optional<TableReader::Line>> TableReader::next_line() {
    auto got = m_source.next_line();
    if (!got) return got.error();
    if (!*got) return std::optional<Line>();
    Line line{std::move(**got), m_source.line_number()};
    if (std::exchange(m_is_at_start, false) && line.text.starts_with("\xEF\xBB\xBF")) line.text.erase(0, 3);
    // An odd number of quotes: one of them is open, and its field goes on.
    auto quotes = std::count(line.text.begin(), line.text.end(), '"');
    while (quotes % 2 == 1) {
        got = m_source.next_line();
        if (!got) return got.error();
        if (!*got || line.text.size() + (*got)->size() > longest_row)
            return Error{ErrorCode::InputOutput, m_path.string() + " line " + std::to_string(line.number) + ": a quote is opened and never closed", ""};
        quotes += std::count((*got)->begin(), (*got)->end(), '"');
        line.text += '\n' + **got;
    }
    return std::optional(std::move(line));
}

Result<void> TableReader::look_ahead() {
    while (m_ahead.size() < lines_looked_at) {
        auto line = next_line();
        if (!line) return line.error();
        if (!*line) break;
        if (!trimmed((*line)->text).empty()) m_ahead.push_back(std::move(**line));
    }
    if (m_ahead.empty()) return Error{ErrorCode::InputOutput, m_path.string() + " is empty", ""};
    return {};
}

Result<void> TableReader::find_separator() {
    m_row_line = m_ahead.front().number;
    std::vector<std::string> fields;
    if (m_options.separator != 0) {
        m_separator = m_options.separator;
        return {};
    }
    std::size_t best = 1;
    for (const char candidate : separators) {
        std::size_t count = 0;
        const bool is_even = std::all_of(m_ahead.begin(), m_ahead.end(), [&](const Line& line) {
            if (split_fields(line.text, candidate, m_options.most_columns, fields)) return false;
            return std::exchange(count, fields.size()) == fields.size() || &line == &m_ahead.front();
        });
        if (is_even && count > best) {
            best = count;
            m_separator = candidate;
        }
    }
    if (best > 1) return {};
    // The usual slip is a row of another length: tell which one, by the separator of the first line.
    for (const char candidate : separators) {
        if (split_fields(m_ahead.front().text, candidate, m_options.most_columns, fields) || fields.size() < 2) continue;
        const std::size_t expected = fields.size();
        for (const Line& line : m_ahead) {
            m_row_line = line.number;
            if (split_fields(line.text, candidate, m_options.most_columns, fields)) return error_in_line("text stands behind a closing quote, or a quote is never closed");
            if (fields.size() != expected)
                return error_in_line(std::to_string(fields.size()) + " values instead of " + std::to_string(expected) + " (separated by " + name_of(candidate) + "s)",
                                     "every line of a table has as many");
        }
    }
    return error_in_line("no comma, semicolon, tab or bar divides it into columns", "a table has at least two: features and a label");
}

Result<void> TableReader::find_header() {
    std::vector<std::vector<std::string>> rows;
    for (const Line& line : m_ahead) {
        std::vector<std::string> fields;
        m_row_line = line.number;
        if (const auto problem = split_fields(line.text, m_separator, m_options.most_columns, fields)) {
            if (problem->kind == FieldProblem::TooManyFields) return error_in_line("more than the " + std::to_string(m_options.most_columns) + " columns allowed here");
            return error(problem->column, "text after the closing quote");
        }
        rows.push_back(std::move(fields));
    }
    const auto& first = rows.front();
    const auto is_word = [](const std::string& field) { return !is_missing(trimmed(field)) && !number_of(field); };
    m_has_header = m_options.header == HeaderLine::Names;
    if (m_options.header == HeaderLine::Detect) {
        bool all_words = true, one_over_numbers = false;
        for (std::size_t i = 0; i < first.size(); ++i) {
            all_words = all_words && (is_word(first[i]) || trimmed(first[i]).empty());
            const bool numbers_below = rows.size() > 1 && std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return i < row.size() && !is_word(row[i]); });
            one_over_numbers = one_over_numbers || (is_word(first[i]) && numbers_below);
        }
        m_has_header = all_words || one_over_numbers;
    }
    m_row_line = m_ahead.front().number;
    for (std::size_t i = 0; i < first.size(); ++i) {
        const std::string_view name = trimmed(first[i]);
        if (m_has_header && first_bad_utf8(name))
            return error(i, "the column's name isn't UTF-8", "save the table as UTF-8 (a spreadsheet's \"CSV UTF-8\")");
        m_names.push_back(m_has_header && !name.empty() ? std::string(name) : "column " + std::to_string(i + 1));
    }
    if (m_has_header) m_ahead.pop_front();
    return {};
}

Result<bool> TableReader::next(std::vector<std::string>& fields) {
    Line line;
    do {
        if (!m_ahead.empty()) {
            line = std::move(m_ahead.front());
            m_ahead.pop_front();
        } else {
            auto got = next_line();
            if (!got) return got.error();
            if (!*got) return false;
            line = std::move(**got);
        }
    } while (trimmed(line.text).empty());
    m_row_line = line.number;
    if (const auto problem = split_fields(line.text, m_separator, m_options.most_columns, fields)) {
        if (problem->kind == FieldProblem::TooManyFields) return error_in_line("more than the " + std::to_string(m_options.most_columns) + " columns allowed here");
        return error(problem->column, problem->kind == FieldProblem::OpenQuote ? "a quote is opened and never closed" : "text after the closing quote");
    }
    if (static_cast<std::int64_t>(fields.size()) != columns())
        return error_in_line(std::to_string(fields.size()) + " values instead of " + std::to_string(columns()), "every line of a table has as many");
    for (std::string& field : fields) field = std::string(trimmed(field));
    return true;
}

}  // namespace mantissa
