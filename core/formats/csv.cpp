#include "formats/csv.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "formats/csv_fields.h"
#include "formats/text_source.h"

namespace mantissa {
namespace {

using formats::FieldProblem;
using formats::number_of;
using formats::shown_field;
using formats::TextSource;
using formats::trimmed;

class CsvReader {
  public:
    CsvReader(TextSource source, const std::filesystem::path& path, const CsvOptions& options)
        : m_source(std::move(source)), m_path(path), m_options(options) {}

    Result<CsvTable> read();

  private:
    [[nodiscard]] Error error_at(std::size_t column, const std::string& what) const;
    [[nodiscard]] Error error_in_line(const std::string& what) const;
    Result<void> split(std::string_view line);
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

Result<void> CsvReader::split(std::string_view line) {
    const auto problem = formats::split_fields(line, m_options.separator, m_options.max_columns, m_fields);
    if (!problem) return {};
    switch (problem->kind) {
        case FieldProblem::TextAfterQuote: return error_at(problem->column, "text after the closing quote");
        case FieldProblem::OpenQuote: return error_at(problem->column, "a quote is opened and not closed in this line");
        case FieldProblem::TooManyFields: break;
    }
    return error_in_line("more than the " + std::to_string(m_options.max_columns) + " columns allowed here");
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
                            empty ? "the value is missing" : shown_field(m_fields[column]) + " is not a number");
        }
        if (!m_options.allow_nonfinite && !std::isfinite(*value)) {
            return error_at(column, shown_field(m_fields[column]) + " is not a finite number");
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
