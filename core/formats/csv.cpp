#include "formats/csv.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "formats/text_source.h"

namespace mantissa {
namespace {

using formats::TextSource;

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// What an error shows of a field: short, and on one line.
std::string shown(std::string_view text) {
    std::string result;
    for (const char letter : text.substr(0, 40)) {
        const auto byte = static_cast<unsigned char>(letter);
        result += byte < 0x20 || byte >= 0x7f ? '?' : letter;
    }
    return "'" + result + (text.size() > 40 ? "…'" : "'");
}

std::optional<double> number_of(std::string_view field) {
    std::string_view text = trimmed(field);
    if (!text.empty() && text.front() == '+') {
        text.remove_prefix(1);
        if (!text.empty() && (text.front() == '+' || text.front() == '-')) return std::nullopt;
    }
    return parse_double(text);
}

class CsvReader {
  public:
    CsvReader(TextSource source, const std::filesystem::path& path, const CsvOptions& options)
        : m_source(std::move(source)), m_path(path), m_options(options) {}

    Result<CsvTable> read();

  private:
    [[nodiscard]] Error error_at(std::size_t column, const std::string& what) const;
    [[nodiscard]] Error error_in_line(const std::string& what) const;
    Result<void> split(std::string_view line);
    Result<void> split_quoted(std::string_view line, std::size_t& at);
    [[nodiscard]] bool is_header() const;
    Result<void> take_row();

    TextSource m_source;
    const std::filesystem::path& m_path;
    const CsvOptions& m_options;
    std::vector<std::string> m_fields;
    CsvTable m_table;
};

Error CsvReader::error_at(std::size_t column, const std::string& what) const {
    return {ErrorCode::InputOutput,
            m_path.string() + " line " + std::to_string(m_source.line_number()) + ", column " +
                std::to_string(column + 1) + ": " + what,
            ""};
}

Error CsvReader::error_in_line(const std::string& what) const {
    return {ErrorCode::InputOutput,
            m_path.string() + " line " + std::to_string(m_source.line_number()) + ": " + what, ""};
}

Result<void> CsvReader::split_quoted(std::string_view line, std::size_t& at) {
    std::string field;
    for (++at; at < line.size(); ++at) {
        if (line[at] != '"') {
            field += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
            field += line[++at];
        } else {
            ++at;
            if (at < line.size() && line[at] != m_options.separator) {
                return error_at(m_fields.size(), "text after the closing quote");
            }
            m_fields.push_back(std::move(field));
            return {};
        }
    }
    return error_at(m_fields.size(), "a quote is opened and not closed in this line");
}

Result<void> CsvReader::split(std::string_view line) {
    m_fields.clear();
    std::size_t at = 0;
    for (;;) {
        if (static_cast<std::int64_t>(m_fields.size()) >= m_options.max_columns) {
            return error_in_line("more than the " + std::to_string(m_options.max_columns) +
                                 " columns allowed here");
        }
        if (at < line.size() && line[at] == '"') {
            if (auto done = split_quoted(line, at); !done) return done;
        } else {
            const std::size_t end = std::min(line.find(m_options.separator, at), line.size());
            m_fields.emplace_back(line.substr(at, end - at));
            at = end;
        }
        if (at >= line.size()) return {};
        ++at;  // the separator
    }
}

bool CsvReader::is_header() const {
    if (m_options.header != CsvHeader::Detect) return m_options.header != CsvHeader::None;
    for (const std::string& field : m_fields) {
        if (!trimmed(field).empty() && !number_of(field)) return true;
    }
    return false;
}

Result<void> CsvReader::take_row() {
    const auto count = static_cast<std::int64_t>(m_fields.size());
    if (m_table.columns == 0) m_table.columns = count;
    if (count != m_table.columns) {
        return error_in_line(std::to_string(count) + " values instead of " + std::to_string(m_table.columns));
    }
    if (static_cast<std::int64_t>(m_table.values.size()) + count > m_options.max_values) {
        return error_in_line("more than the " + std::to_string(m_options.max_values) +
                             " values allowed here");
    }
    for (std::size_t column = 0; column < m_fields.size(); ++column) {
        const auto value = number_of(m_fields[column]);
        if (!value) {
            const bool empty = trimmed(m_fields[column]).empty();
            return error_at(column,
                            empty ? "the value is missing" : shown(m_fields[column]) + " is not a number");
        }
        if (!m_options.allow_nonfinite && !std::isfinite(*value)) {
            return error_at(column, shown(m_fields[column]) + " is not a finite number");
        }
        m_table.values.push_back(*value);
    }
    ++m_table.rows;
    return {};
}

Result<CsvTable> CsvReader::read() {
    m_table.columns = m_options.columns;
    std::int64_t empty_line = 0;  // empty lines are fine at the end only
    for (bool first = true;; first = false) {
        auto line = m_source.next_line();
        if (!line) return line.error();
        if (!*line) break;
        std::string_view text = **line;
        if (first && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
        if (trimmed(text).empty()) {
            if (empty_line == 0) empty_line = m_source.line_number();
            continue;
        }
        if (empty_line != 0) {
            return Error{ErrorCode::InputOutput,
                         m_path.string() + " line " + std::to_string(empty_line) + " is empty", ""};
        }
        if (auto done = split(text); !done) return done.error();
        if (first && is_header()) {
            for (const std::string& field : m_fields) m_table.header.emplace_back(trimmed(field));
            m_table.first_line = 2;
            const bool names = m_options.header != CsvHeader::FreeForm;
            const auto count = static_cast<std::int64_t>(m_fields.size());
            if (names && m_table.columns != 0 && count != m_table.columns) {
                return error_in_line(std::to_string(count) + " names instead of " +
                                     std::to_string(m_table.columns));
            }
            if (names) m_table.columns = count;
            continue;
        }
        if (auto done = take_row(); !done) return done.error();
    }
    if (m_table.rows == 0)
        return Error{ErrorCode::InputOutput, m_path.string() + " holds no row of numbers", ""};
    return std::move(m_table);
}

}  // namespace

Result<CsvTable> read_csv(const std::filesystem::path& path, const CsvOptions& options) {
    auto source = TextSource::open(path, {.total_bytes = options.max_bytes});
    if (!source) return source.error();
    return CsvReader(std::move(source).value(), path, options).read();
}

}  // namespace mantissa
