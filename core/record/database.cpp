#include "record/database.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace mantissa::db {

Statement::Statement(Statement&& other) noexcept : m_statement(std::exchange(other.m_statement, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
    std::swap(m_statement, other.m_statement);
    return *this;
}

Statement::~Statement() {
    sqlite3_finalize(m_statement);
}

void Statement::bind(int index, std::int64_t value) {
    sqlite3_bind_int64(m_statement, index + 1, value);
}

void Statement::bind(int index, double value) {
    if (value != value) {
        sqlite3_bind_text(m_statement, index + 1, "NaN", 3, SQLITE_STATIC);
    } else {
        sqlite3_bind_double(m_statement, index + 1, value);
    }
}

void Statement::bind(int index, const std::optional<double>& value) {
    if (value) {
        bind(index, *value);
    } else {
        sqlite3_bind_null(m_statement, index + 1);
    }
}

void Statement::bind(int index, const std::optional<std::int64_t>& value) {
    if (value) {
        bind(index, *value);
    } else {
        sqlite3_bind_null(m_statement, index + 1);
    }
}

void Statement::bind(int index, std::string_view text) {
    sqlite3_bind_text64(m_statement, index + 1, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

void Statement::bind_blob(int index, std::string_view bytes) {
    sqlite3_bind_blob64(m_statement, index + 1, bytes.data() ? bytes.data() : "", bytes.size(), SQLITE_TRANSIENT);
}

void Statement::bind_static(int index, const char* text) {
    sqlite3_bind_text(m_statement, index + 1, text, -1, SQLITE_STATIC);
}

int Statement::step() {
    errno = 0;
    return sqlite3_step(m_statement);
}

void Statement::reset() {
    sqlite3_reset(m_statement);
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(m_statement, column);
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL;
}

double Statement::real(int column) const {
    const int type = sqlite3_column_type(m_statement, column);
    if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) return sqlite3_column_double(m_statement, column);
    return std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> Statement::optional_real(int column) const {
    if (is_null(column)) return std::nullopt;
    return real(column);
}

std::int64_t Statement::amount(int column) const {
    constexpr std::int64_t most = (std::int64_t{1} << 62) - 1;
    return std::clamp(integer(column), -most, most);
}

std::optional<std::int64_t> Statement::optional_amount(int column) const {
    if (is_null(column)) return std::nullopt;
    return amount(column);
}

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_text(m_statement, column);
    if (!bytes) return {};
    return {reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column))};
}

std::string Statement::blob(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(m_statement, column));
    if (!bytes) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column))};
}

Result<Database> Database::open(const std::string& name, int flags, const std::filesystem::path& path) {
    Database database;
    database.m_path = path;
    const int code = sqlite3_open_v2(name.c_str(), &database.m_handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    if (code != SQLITE_OK) return database.last_error("opening");
    sqlite3_extended_result_codes(database.m_handle, 1);
    return database;
}

Database::Database(Database&& other) noexcept
    : m_handle(std::exchange(other.m_handle, nullptr)), m_path(std::move(other.m_path)) {}

Database& Database::operator=(Database&& other) noexcept {
    std::swap(m_handle, other.m_handle);
    std::swap(m_path, other.m_path);
    return *this;
}

// Statements are members declared after their database and are gone by now; close_v2 would defer if one were
// not.
Database::~Database() {
    sqlite3_close_v2(m_handle);
}

int Database::try_execute(const char* sql) {
    errno = 0;
    return sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
}

Result<void> Database::execute(const char* sql) {
    if (try_execute(sql) != SQLITE_OK) return last_error("working on");
    return {};
}

Result<Statement> Database::prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(m_handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
        return last_error("reading");
    }
    return Statement(statement);
}

Result<std::int64_t> Database::single_integer(const char* sql) {
    auto statement = prepare(sql);
    if (!statement) return statement.error();
    const int code = statement->step();
    if (code == SQLITE_ROW) return statement->integer(0);
    if (code == SQLITE_DONE) return std::int64_t{0};
    return last_error("reading");
}

int Database::last_code() const {
    return m_handle ? sqlite3_errcode(m_handle) : SQLITE_NOMEM;
}

Error Database::last_error(std::string_view doing) const {
    // A failed commit leaves the system's reason in errno only, and nobody else has called the system since.
    const int left_behind = errno;
    const std::string file = m_path.string();
    if (!m_handle)
        return {ErrorCode::InputOutput, "no memory left while " + std::string(doing) + " " + file, ""};
    const int code = sqlite3_errcode(m_handle) & 0xff;
    const int system = sqlite3_system_errno(m_handle) != 0 ? sqlite3_system_errno(m_handle) : left_behind;
    if (code == SQLITE_FULL || (code == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT))) {
        return {ErrorCode::InputOutput, "the disk is full while " + std::string(doing) + " " + file,
                "free some space, or choose another runs folder with --runs-dir"};
    }
    if (code == SQLITE_IOERR && system == EFBIG) {
        return {ErrorCode::InputOutput,
                "the file size limit is reached while " + std::string(doing) + " " + file,
                "raise the limit (ulimit -f), or record fewer steps"};
    }
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
        return {ErrorCode::InputOutput,
                file + " is damaged or is no recording (" + sqlite3_errmsg(m_handle) + ")",
                "restore the run folder from a copy, or delete it"};
    }
    std::string why = sqlite3_errmsg(m_handle);
    if (system != 0 && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR)) {
        why += ": ";
        why += std::strerror(system);
    }
    return {ErrorCode::InputOutput, std::string(doing) + " " + file + " failed: " + why, ""};
}

std::string file_uri(const std::filesystem::path& path, std::string_view query) {
    static constexpr char hex[] = "0123456789ABCDEF";
    std::string uri = "file:";
    for (const char letter : path.string()) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '?' || letter == '#' || letter == '%' || byte < 0x20) {
            uri += '%';
            uri += hex[byte >> 4];
            uri += hex[byte & 15];
        } else {
            uri += letter;
        }
    }
    uri += '?';
    uri += query;
    return uri;
}

}  // namespace mantissa::db
