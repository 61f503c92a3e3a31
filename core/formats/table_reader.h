#pragma once
// Tables as spreadsheets and pandas write them: CSV with any of four separators, with or without names of columns, quoted fields (line
// breaks inside too), plain or gzip, UTF-8 with or without a byte order mark. Row by row: memory is that of one row.
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/text_source.h"

namespace mantissa {

enum class HeaderLine { Detect, Names, None };

struct TableOptions {
    char separator = 0;  // , ; | or a tab; 0: the one that divides the first lines most evenly
    HeaderLine header = HeaderLine::Detect;
    std::int64_t most_columns = 100'000;
    std::uint64_t most_bytes = 1ull << 42;  // after decompression
};

class TableReader {
  public:
    /// Looks at the first 20 lines. InputOutput for an empty file, or one whose first lines no separator divides evenly.
    static Result<TableReader> open(const std::filesystem::path& path, const TableOptions& options = {});

    [[nodiscard]] char separator() const { return m_separator; }
    [[nodiscard]] bool has_header() const { return m_has_header; }
    [[nodiscard]] const std::vector<std::string>& names() const { return m_names; }  // "column 3" where there is none
    [[nodiscard]] std::int64_t columns() const { return static_cast<std::int64_t>(m_names.size()); }

    /// The next row's fields, trimmed of blanks: as many as there are columns. False at the end. Empty lines are passed over.
    Result<bool> next(std::vector<std::string>& fields);
    [[nodiscard]] std::int64_t line() const { return m_row_line; }  // where the last row began, from 1
    /// "FILE line 7, column 3 (age): " and `what`.
    [[nodiscard]] Error error(std::size_t column, const std::string& what, const std::string& hint = "") const;
    [[nodiscard]] Error error_in_line(const std::string& what, const std::string& hint = "") const;

  private:
    struct Line {
        std::string text;
        std::int64_t number;
    };
    TableReader(formats::TextSource source, std::filesystem::path path, const TableOptions& options);
    Result<std::optional<Line>> next_line();
    Result<void> look_ahead();
    Result<void> find_separator();
    Result<void> find_header();

    formats::TextSource m_source;
    std::filesystem::path m_path;
    TableOptions m_options;
    std::deque<Line> m_ahead;
    char m_separator = ',';
    bool m_has_header = false, m_is_at_start = true;
    std::vector<std::string> m_names;
    std::int64_t m_row_line = 0;
};

/// Whether the beginning of a text is a table but for some lines: most have as many fields as the first, and most fields below it are
/// numbers.
[[nodiscard]] bool nearly_a_table(std::string_view start);

/// Whether a field says that its value isn't there: empty, NA, N/A, NaN, null, None, ?.
[[nodiscard]] bool is_missing(std::string_view field);

}  // namespace mantissa
