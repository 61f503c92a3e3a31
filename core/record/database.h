#pragma once
// SQLite's C API as two small owners. Internal to core/record: nothing outside includes it. NaN travels as
// TEXT 'NaN' and NULL means "not measured" (SQLite itself turns a bound NaN into NULL, which would lose the
// difference).
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mantissa::db {

class Database;

/// A prepared statement. Parameters and columns count from 0 here.
class Statement {
  public:
    Statement() = default;
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&& other) noexcept;
    ~Statement();

    void bind(int index, std::int64_t value);
    void bind(int index, double value);
    void bind(int index, const std::optional<double>& value);
    void bind(int index, const std::optional<std::int64_t>& value);
    void bind(int index, std::string_view text);    // copied by SQLite
    void bind_blob(int index, std::string_view bytes);  // copied by SQLite
    void bind_static(int index, const char* text);  // must outlive the step
    /// SQLITE_ROW, SQLITE_DONE or an error code. After an insert: reset() before the next bind.
    int step();
    void reset();

    [[nodiscard]] bool is_prepared() const { return m_statement != nullptr; }
    [[nodiscard]] std::int64_t integer(int column) const;
    /// A step, a time or an amount: what lies beyond ±2^62, as only a damaged file has it, is the nearest that doesn't, so that
    /// differences of two stay numbers.
    [[nodiscard]] std::int64_t amount(int column) const;
    [[nodiscard]] bool is_null(int column) const;
    /// NULL or a text other than 'NaN' gives NaN.
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::optional<double> optional_real(int column) const;
    [[nodiscard]] std::optional<std::int64_t> optional_amount(int column) const;
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::string blob(int column) const;

  private:
    friend class Database;
    explicit Statement(sqlite3_stmt* statement) : m_statement(statement) {}
    sqlite3_stmt* m_statement = nullptr;
};

class Database {
  public:
    /// `flags` are SQLITE_OPEN_…; `name` is a path or, with SQLITE_OPEN_URI, a file: address. `path` is what
    /// errors name.
    static Result<Database> open(const std::string& name, int flags, const std::filesystem::path& path);
    Database() = default;
    Database(Database&& other) noexcept;
    Database& operator=(Database&& other) noexcept;
    ~Database();

    Result<void> execute(const char* sql);
    /// Unlike `execute` it returns SQLite's code, for callers that decide by it.
    int try_execute(const char* sql);
    Result<Statement> prepare(const char* sql);
    Result<std::int64_t> single_integer(const char* sql);
    [[nodiscard]] int last_code() const;
    /// "The disk is full while writing RUN/run.db" …: a sentence from the last failure, with the path and the
    /// system's reason.
    [[nodiscard]] Error last_error(std::string_view doing) const;
    [[nodiscard]] bool is_open() const { return m_handle != nullptr; }

  private:
    sqlite3* m_handle = nullptr;
    std::filesystem::path m_path;
};

/// Path as a file: address with its special characters escaped.
[[nodiscard]] std::string file_uri(const std::filesystem::path& path, std::string_view query);

}  // namespace mantissa::db
