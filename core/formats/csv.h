#pragma once
// Tables of numbers as CSV (RFC 4180 fields; LF or CRLF), plain or gzip. Every error names file, line and column (both from 1).
// Memory: 8 bytes a value and one line; the limits refuse a file that would need more.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"

namespace mantissa {

enum class CsvHeader {
    None,      // every line holds numbers
    Names,     // the first line names the columns: as many fields as the rows have
    FreeForm,  // the first line is something else, of any number of fields ("569,30,malignant,benign")
    Detect,    // Names if any field of the first line isn't a number and not empty
};

struct CsvOptions {
    CsvHeader header = CsvHeader::Detect;
    char separator = ',';
    std::int64_t columns = 0;       // as many are expected; 0 = as many as the first row has
    bool allow_nonfinite = false;   // nan, inf, -inf as values
    std::int64_t max_columns = 100'000;
    std::int64_t max_values = 100'000'000;
    std::uint64_t max_bytes = 1ull << 30;  // after decompression
};

struct CsvTable {
    std::vector<std::string> header;  // fields of the first line when it is one
    std::int64_t rows = 0, columns = 0;
    std::vector<double> values;  // row-major
    std::int64_t first_line = 1;  // line of row 0, for errors of the caller: row r is line first_line + r

    [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
};

/// A file without a single row is an error.
Result<CsvTable> read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace mantissa
