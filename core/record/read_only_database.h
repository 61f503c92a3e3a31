#pragma once
// run.db opened for reading in every situation: beside an active writer, after a crash with a leftover log
// (run.db-wal), and in a folder or file system that can't be written. Internal to core/record.
#include <array>
#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "record/database.h"

namespace mantissa::db {

class ReadOnlyDatabase {
  public:
    static Result<ReadOnlyDatabase> open(const std::filesystem::path& path);
    ReadOnlyDatabase() = default;
    ReadOnlyDatabase(ReadOnlyDatabase&& other) noexcept;
    ReadOnlyDatabase& operator=(ReadOnlyDatabase&& other) noexcept;
    ~ReadOnlyDatabase();

    [[nodiscard]] Database& database() { return m_database; }
    /// True for a snapshot whose original has changed since: open it again.
    [[nodiscard]] bool is_outdated() const;

  private:
    using Stamp = std::array<std::int64_t, 4>;  // size and time of run.db and run.db-wal
    static Stamp stamp_of(const std::filesystem::path& path);
    static Result<ReadOnlyDatabase> open_snapshot(const std::filesystem::path& path);

    Database m_database;
    std::filesystem::path m_path;
    std::filesystem::path m_copy_folder;  // of a snapshot that had a log; removed at the end
    bool m_is_snapshot = false;
    Stamp m_stamp{};
};

}  // namespace mantissa::db
