#pragma once
// The tables of run.db (design §3). user_version is the schema version: an older one is brought up to date by
// the writer, a newer one is refused with both numbers. Internal to core/record and its tests.
#include "base/result.h"
#include "record/database.h"

namespace mantissa::db {

inline constexpr std::int64_t schema_version = 2;

/// Writer's side: pragmas (WAL, synchronous=NORMAL), tables if they aren't there, version check.
Result<void> prepare_for_writing(Database& database, const std::filesystem::path& path);
/// Reader's side: version check only. A file whose tables aren't there yet (version 0) is an error worth a
/// retry.
Result<void> check_for_reading(Database& database, const std::filesystem::path& path);

}  // namespace mantissa::db
