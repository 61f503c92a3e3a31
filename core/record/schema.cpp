#include "record/schema.h"

#include <string>

namespace mantissa::db {
namespace {

// Whoever follows a run asks for the tensor records of its last steps: by the index on them, however long the run is.
// Columns that hold measured numbers are REAL: TEXT 'NaN' stays text in them, since it doesn't look like a
// number.
constexpr const char* tables = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE states(time_ns INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE steps(
    step INTEGER PRIMARY KEY, applied_step INTEGER NOT NULL, epoch INTEGER, time_ns INTEGER NOT NULL,
    loss REAL, learning_rate REAL, grad_norm REAL, loss_scale REAL, growth_tracker INTEGER,
    skipped INTEGER NOT NULL, skip_kind TEXT NOT NULL, nonfinite_loss INTEGER NOT NULL, nonfinite_grads INTEGER,
    memory_bytes INTEGER, memory_peak_bytes INTEGER, host_memory_bytes INTEGER,
    samples INTEGER, data_ns INTEGER, step_ns INTEGER);
CREATE TABLE micro_batches(step INTEGER NOT NULL, "index" INTEGER NOT NULL, loss REAL);
CREATE TABLE evaluations(
    step INTEGER NOT NULL, split TEXT NOT NULL, metric TEXT NOT NULL, value REAL, precision TEXT NOT NULL, samples INTEGER);
CREATE TABLE memory(step INTEGER NOT NULL, part TEXT NOT NULL, bytes INTEGER);
CREATE TABLE tensor_stats(
    step INTEGER NOT NULL, tensor TEXT NOT NULL, role TEXT NOT NULL, dtype TEXT NOT NULL,
    elements INTEGER, nan INTEGER, pos_inf INTEGER, neg_inf INTEGER, zero INTEGER, negative INTEGER, subnormal INTEGER,
    largest REAL, smallest_nonzero REAL, mean REAL, mean_abs REAL, rms REAL, unmoved REAL, exponents BLOB);
CREATE INDEX tensor_stats_step ON tensor_stats(step);
CREATE TABLE op_dtypes(
    step INTEGER NOT NULL, phase TEXT NOT NULL, op TEXT NOT NULL, dtype TEXT NOT NULL, calls INTEGER, multiply_adds INTEGER,
    casts INTEGER, cast_bytes INTEGER);
CREATE TABLE extremes(first_step INTEGER NOT NULL, steps INTEGER NOT NULL, "values" BLOB NOT NULL);
CREATE TABLE local_errors(
    step INTEGER NOT NULL, tensor TEXT NOT NULL, role TEXT NOT NULL, dtype TEXT NOT NULL, sqnr_db REAL, relative_error REAL);
CREATE TABLE alarms(
    step INTEGER NOT NULL, rule TEXT NOT NULL, severity TEXT NOT NULL, tensor TEXT NOT NULL, value REAL, threshold REAL,
    action TEXT NOT NULL);
CREATE TABLE incidents(
    id INTEGER PRIMARY KEY, step INTEGER NOT NULL, phase TEXT NOT NULL, kind TEXT NOT NULL, severity TEXT NOT NULL,
    module TEXT NOT NULL, op TEXT NOT NULL, tensor TEXT NOT NULL, detail TEXT NOT NULL);
PRAGMA user_version = 2;
)";

// Version 1 knew neither casts nor what tensors are watched for.
constexpr const char* from_version_1 = R"(
ALTER TABLE tensor_stats ADD COLUMN negative INTEGER;
ALTER TABLE tensor_stats ADD COLUMN unmoved REAL;
CREATE INDEX IF NOT EXISTS tensor_stats_step ON tensor_stats(step);
ALTER TABLE op_dtypes ADD COLUMN casts INTEGER;
ALTER TABLE op_dtypes ADD COLUMN cast_bytes INTEGER;
CREATE TABLE extremes(first_step INTEGER NOT NULL, steps INTEGER NOT NULL, "values" BLOB NOT NULL);
CREATE TABLE local_errors(
    step INTEGER NOT NULL, tensor TEXT NOT NULL, role TEXT NOT NULL, dtype TEXT NOT NULL, sqnr_db REAL, relative_error REAL);
CREATE TABLE alarms(
    step INTEGER NOT NULL, rule TEXT NOT NULL, severity TEXT NOT NULL, tensor TEXT NOT NULL, value REAL, threshold REAL,
    action TEXT NOT NULL);
PRAGMA user_version = 2;
)";
static_assert(schema_version == 2, "the tables above end with their version");

Error newer_version(std::int64_t found, const std::filesystem::path& path) {
    return {ErrorCode::InputOutput,
            path.string() + " has recording format " + std::to_string(found) + ", this program reads up to " +
                std::to_string(schema_version),
            "open it with the newer Mantissa that wrote it"};
}

}  // namespace

Result<void> prepare_for_writing(Database& database, const std::filesystem::path& path) {
    const auto found = database.single_integer("PRAGMA user_version");
    if (!found) return found.error();
    if (*found > schema_version) return newer_version(*found, path);
    if (auto done = database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"); !done)
        return done;
    if (*found == schema_version) return {};
    if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun;
    // Another writer may have made the tables between the look above and the lock.
    const auto again = database.single_integer("PRAGMA user_version");
    if (!again) return again.error();
    if (*again < schema_version) {
        if (auto made = database.execute(*again == 0 ? tables : from_version_1); !made) {
            database.try_execute("ROLLBACK");
            return made;
        }
    }
    return database.execute("COMMIT");
}

Result<void> check_for_reading(Database& database, const std::filesystem::path& path) {
    const auto found = database.single_integer("PRAGMA user_version");
    if (!found) return found.error();
    if (*found > schema_version) return newer_version(*found, path);
    if (*found < 1) {
        return Error{ErrorCode::InputOutput, path.string() + " holds no recording yet",
                     "try again when the run has begun"};
    }
    return {};
}

}  // namespace mantissa::db
