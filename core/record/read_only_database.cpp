#include "record/read_only_database.h"

#include <sys/stat.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "record/schema.h"

namespace mantissa::db {
namespace {

namespace fs = std::filesystem;

fs::path log_of(const fs::path& path) {
    return path.string() + "-wal";
}

bool has_log(const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(log_of(path), error);
    return !error && size > 0;
}

Result<Database> open_at(const std::string& name, const fs::path& path) {
    auto opened = Database::open(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path);
    if (!opened) return opened;
    // A reader waits only for the moment in which a writer makes or recovers the log.
    if (auto done = opened->execute("PRAGMA busy_timeout = 2000"); !done) return done.error();
    return opened;
}

Result<fs::path> copy_with_log(const fs::path& path) {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "mantissa-reader-XXXXXX").string();
    if (error || !::mkdtemp(pattern.data())) {
        return Error{ErrorCode::InputOutput, "no temporary folder to read " + path.string() + " from",
                     "set TMPDIR"};
    }
    const fs::path folder = pattern;
    fs::copy_file(path, folder / path.filename(), error);
    if (!error) fs::copy_file(log_of(path), log_of(folder / path.filename()), error);
    if (error) {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
        return Error{ErrorCode::InputOutput,
                     "copying " + path.string() + " for reading failed: " + error.message(), ""};
    }
    // The copy gets a shared-memory file beside it, so it must be writable even if the original isn't.
    fs::permissions(folder / path.filename(), fs::perms::owner_read | fs::perms::owner_write, error);
    fs::permissions(log_of(folder / path.filename()), fs::perms::owner_read | fs::perms::owner_write, error);
    return folder;
}

}  // namespace

ReadOnlyDatabase::ReadOnlyDatabase(ReadOnlyDatabase&& other) noexcept
    : m_database(std::move(other.m_database)),
      m_path(std::move(other.m_path)),
      m_copy_folder(std::exchange(other.m_copy_folder, {})),
      m_is_snapshot(other.m_is_snapshot),
      m_stamp(other.m_stamp) {}

ReadOnlyDatabase& ReadOnlyDatabase::operator=(ReadOnlyDatabase&& other) noexcept {
    if (this != &other) {
        std::swap(m_database, other.m_database);
        std::swap(m_path, other.m_path);
        std::swap(m_copy_folder, other.m_copy_folder);
        std::swap(m_is_snapshot, other.m_is_snapshot);
        std::swap(m_stamp, other.m_stamp);
    }
    return *this;
}

ReadOnlyDatabase::~ReadOnlyDatabase() {
    m_database = Database{};
    if (m_copy_folder.empty()) return;
    std::error_code ignored;
    fs::remove_all(m_copy_folder, ignored);
}

ReadOnlyDatabase::Stamp ReadOnlyDatabase::stamp_of(const fs::path& path) {
    Stamp stamp{};
    std::size_t at = 0;
    for (const fs::path& file : {path, log_of(path)}) {
        struct stat status {};
        if (::stat(file.c_str(), &status) == 0) {
            stamp[at] = status.st_size;
            stamp[at + 1] = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
        }
        at += 2;
    }
    return stamp;
}

bool ReadOnlyDatabase::is_outdated() const {
    return m_is_snapshot && stamp_of(m_path) != m_stamp;
}

Result<ReadOnlyDatabase> ReadOnlyDatabase::open(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) {
        return Error{ErrorCode::InputOutput, "there is no recording at " + path.string(),
                     "a run that has just begun writes it within a second"};
    }
    ReadOnlyDatabase result;
    result.m_path = path;
    auto opened = open_at(file_uri(path, "mode=ro"), path);
    if (!opened) return opened.error();
    auto checked = check_for_reading(*opened, path);
    if (checked) {
        result.m_database = std::move(opened).value();
        return result;
    }
    // Without the right to make the shared-memory file, a WAL database can't be opened in the usual way.
    const int code = opened->last_code() & 0xff;
    if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) return open_snapshot(path);
    return checked.error();
}

Result<ReadOnlyDatabase> ReadOnlyDatabase::open_snapshot(const fs::path& path) {
    ReadOnlyDatabase result;
    result.m_path = path;
    result.m_is_snapshot = true;
    result.m_stamp = stamp_of(path);
    std::string name = file_uri(path, "mode=ro&immutable=1");
    if (has_log(path)) {
        // `immutable` would ignore the log, and with it the newest rows.
        auto copied = copy_with_log(path);
        if (!copied) return copied.error();
        result.m_copy_folder = *copied;
        name = file_uri(*copied / path.filename(), "mode=ro");
    }
    auto opened = open_at(name, path);
    if (!opened) return opened.error();
    if (auto checked = check_for_reading(*opened, path); !checked) return checked.error();
    result.m_database = std::move(opened).value();
    return result;
}

}  // namespace mantissa::db
