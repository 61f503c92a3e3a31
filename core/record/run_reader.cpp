#include "record/run_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "record/database.h"
#include "record/extremes.h"
#include "record/rank_file.h"
#include "record/read_only_database.h"
#include "record/rank_life.h"
#include "record/run_folder.h"

namespace mantissa {
namespace {

StepRow step_from(const db::Statement& s) {
    StepRow row;
    row.step = s.amount(0);
    row.applied_step = s.amount(1);
    row.epoch = s.amount(2);
    row.time_ns = s.amount(3);
    row.loss = s.real(4);
    row.learning_rate = s.real(5);
    row.grad_norm = s.real(6);
    row.loss_scale = s.optional_real(7);
    row.growth_tracker = s.optional_amount(8);
    row.skipped = s.integer(9) != 0;
    row.skip_kind = parse_skip_kind(s.text(10)).value_or(row.skipped ? SkipKind::Fault : SkipKind::None);
    row.nonfinite_loss = s.integer(11) != 0;
    row.nonfinite_grads = s.amount(12);
    row.memory_bytes = s.amount(13);
    row.memory_peak_bytes = s.amount(14);
    row.host_memory_bytes = s.amount(15);
    row.samples = s.amount(16);
    row.data_ns = s.amount(17);
    row.step_ns = s.amount(18);
    return row;
}

MicroBatchRow micro_batch_from(const db::Statement& s) {
    return {s.amount(1), s.amount(2), s.real(3)};
}

EvaluationRow evaluation_from(const db::Statement& s) {
    return {s.amount(1), s.text(2), s.text(3), s.real(4), s.text(5), s.amount(6)};
}

MemoryRow memory_from(const db::Statement& s) {
    return {s.amount(1), s.text(2), s.amount(3)};
}

OpDtypeRow op_dtype_from(const db::Statement& s) {
    return {s.amount(1), s.text(2), s.text(3), s.text(4), s.amount(5), s.amount(6), s.amount(7), s.amount(8)};
}

TensorStatRow tensor_stat_from(const db::Statement& s) {
    TensorStatRow row;
    row.step = s.amount(1);
    row.tensor = s.text(2);
    row.role = parse_tensor_role(s.text(3)).value_or(TensorRole::Output);
    row.dtype = s.text(4);
    row.elements = s.amount(5);
    row.nan = s.amount(6);
    row.pos_inf = s.amount(7);
    row.neg_inf = s.amount(8);
    row.zero = s.amount(9);
    row.negative = s.amount(10);
    row.subnormal = s.amount(11);
    row.largest = s.real(12);
    row.smallest_nonzero = s.real(13);
    row.mean = s.real(14);
    row.mean_abs = s.real(15);
    row.rms = s.real(16);
    row.unmoved = s.optional_real(17);
    return row;
}

LocalErrorRow local_error_from(const db::Statement& s) {
    return {s.amount(1), s.text(2), parse_tensor_role(s.text(3)).value_or(TensorRole::Output), s.text(4), s.real(5), s.real(6)};
}

AlarmRow alarm_from(const db::Statement& s) {
    return {s.amount(1), s.text(2), s.text(3), s.text(4), s.real(5), s.real(6), s.text(7)};
}

IncidentRow incident_from(const db::Statement& s) {
    return {s.amount(0), s.amount(1), s.text(2), s.text(3), s.text(4),
            s.text(5),    s.text(6),    s.text(7), s.text(8)};
}

StateRow state_from(const db::Statement& s) {
    // A state that this version doesn't know comes from a damaged file: shown as failed, with the word.
    const std::string word = s.text(2);
    const auto state = parse_run_state(word);
    return {s.amount(1), state.value_or(RunState::Failed),
            state ? s.text(3) : "unknown state '" + word + "'"};
}

/// Follows one table: rows whose key (column 0) is above the last one seen.
struct Follower {
    const char* sql;
    db::Statement statement;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();

    template <typename Row>
    Result<void> read(db::Database& database, std::vector<Row>& rows, Row (*make)(const db::Statement&),
                      std::int64_t limit) {
        if (!statement.is_prepared()) return {};  // a table that this recording hasn't
        statement.bind(0, last);
        statement.bind(1, limit);
        int code = SQLITE_ROW;
        while ((code = statement.step()) == SQLITE_ROW) {
            last = statement.integer(0);
            rows.push_back(make(statement));
        }
        if (code == SQLITE_DONE) {
            statement.reset();
            return {};
        }
        Error error = database.last_error("reading");
        statement.reset();
        return error;
    }
};

constexpr std::int64_t all_rows = std::numeric_limits<std::int64_t>::max();

}  // namespace

bool RunRows::empty() const {
    return steps.empty() && micro_batches.empty() && evaluations.empty() && memory.empty() &&
           op_dtypes.empty() && incidents.empty() && tensor_stats.empty() && local_errors.empty() && alarms.empty() &&
           states.empty();
}

struct RunReader::Impl {
    RunFolder folder;
    std::int64_t rank = 0;
    db::ReadOnlyDatabase source;
    db::Statement begin, commit, last_state;
    Follower steps{
        "SELECT step, applied_step, epoch, time_ns, loss, learning_rate, grad_norm, loss_scale, "
        "growth_tracker, skipped,"
        " skip_kind, nonfinite_loss, nonfinite_grads, memory_bytes, memory_peak_bytes, host_memory_bytes, "
        "samples,"
        " data_ns, step_ns FROM steps WHERE step > ?1 ORDER BY step LIMIT ?2",
        {}};
    Follower micro_batches{
        "SELECT rowid, step, \"index\", loss FROM micro_batches WHERE rowid > ?1 ORDER BY rowid LIMIT ?2",
        {}};
    Follower evaluations{
        "SELECT rowid, step, split, metric, value, precision, samples FROM evaluations WHERE rowid > ?1"
        " ORDER BY rowid LIMIT ?2",
        {}};
    Follower memory{"SELECT rowid, step, part, bytes FROM memory WHERE rowid > ?1 ORDER BY rowid LIMIT ?2",
                    {}};
    Follower op_dtypes{
        "SELECT rowid, step, phase, op, dtype, calls, multiply_adds, casts, cast_bytes FROM op_dtypes WHERE rowid > ?1"
        " ORDER BY rowid LIMIT ?2",
        {}};
    Follower incidents{
        "SELECT id, step, phase, kind, severity, module, op, tensor, detail FROM incidents WHERE id > ?1"
        " ORDER BY id LIMIT ?2",
        {}};
    Follower tensor_stats{
        "SELECT rowid, step, tensor, role, dtype, elements, nan, pos_inf, neg_inf, zero, negative, subnormal, largest,"
        " smallest_nonzero, mean, mean_abs, rms, unmoved FROM tensor_stats WHERE rowid > ?1 ORDER BY rowid LIMIT ?2",
        {}};
    Follower local_errors{
        "SELECT rowid, step, tensor, role, dtype, sqnr_db, relative_error FROM local_errors WHERE rowid > ?1"
        " ORDER BY rowid LIMIT ?2",
        {}};
    Follower alarms{
        "SELECT rowid, step, rule, severity, tensor, value, threshold, action FROM alarms WHERE rowid > ?1"
        " ORDER BY rowid LIMIT ?2",
        {}};
    Follower states{
        "SELECT rowid, time_ns, state, reason FROM states WHERE rowid > ?1 ORDER BY rowid LIMIT ?2", {}};

    bool is_old = false;  // version 1: no tables of tensors

    [[nodiscard]] std::array<Follower*, 10> tables() {
        return {&steps, &micro_batches, &evaluations, &memory, &op_dtypes, &incidents, &tensor_stats, &local_errors, &alarms, &states};
    }
    Result<void> prepare();
    Result<void> refresh();
    Result<void> read_tables(RunRows& rows, std::int64_t limit);
    Result<std::optional<StateRow>> recorded_state();
    [[nodiscard]] std::string who_is_gone() const;
};

Result<void> RunReader::Impl::prepare() {
    const auto prepare_one = [this](db::Statement& statement, const char* sql) -> Result<void> {
        auto prepared = source.database().prepare(sql);
        if (!prepared) return prepared.error();
        statement = std::move(prepared).value();
        return {};
    };
    if (auto done = prepare_one(begin, "BEGIN"); !done) return done;
    if (auto done = prepare_one(commit, "COMMIT"); !done) return done;
    if (auto done = prepare_one(
            last_state, "SELECT rowid, time_ns, state, reason FROM states ORDER BY rowid DESC LIMIT 1");
        !done) {
        return done;
    }
    const auto version = source.database().single_integer("PRAGMA user_version");
    if (!version) return version.error();
    is_old = *version < 2;
    if (is_old) {
        op_dtypes.sql = "SELECT rowid, step, phase, op, dtype, calls, multiply_adds, 0, 0 FROM op_dtypes WHERE rowid > ?1"
                        " ORDER BY rowid LIMIT ?2";
    }
    for (Follower* table : tables()) {
        if (is_old && (table == &tensor_stats || table == &local_errors || table == &alarms)) continue;
        if (auto done = prepare_one(table->statement, table->sql); !done) return done;
    }
    return {};
}

/// A snapshot (read-only file system) doesn't see new rows: when the files have changed, it is taken anew.
Result<void> RunReader::Impl::refresh() {
    if (!source.is_outdated()) return {};
    for (db::Statement* statement : {&begin, &commit, &last_state}) *statement = db::Statement{};
    for (Follower* table : tables()) {
        table->statement = db::Statement{};
    }
    auto opened = db::ReadOnlyDatabase::open(rank_database(folder.path, rank));
    if (!opened) return opened.error();
    source = std::move(opened).value();
    return prepare();
}

Result<void> RunReader::Impl::read_tables(RunRows& rows, std::int64_t limit) {
    db::Database& database = source.database();
    if (auto done = steps.read(database, rows.steps, step_from, limit); !done) return done;
    if (auto done = micro_batches.read(database, rows.micro_batches, micro_batch_from, all_rows); !done)
        return done;
    if (auto done = evaluations.read(database, rows.evaluations, evaluation_from, all_rows); !done)
        return done;
    if (auto done = memory.read(database, rows.memory, memory_from, all_rows); !done) return done;
    if (auto done = op_dtypes.read(database, rows.op_dtypes, op_dtype_from, all_rows); !done) return done;
    if (auto done = incidents.read(database, rows.incidents, incident_from, all_rows); !done) return done;
    if (auto done = tensor_stats.read(database, rows.tensor_stats, tensor_stat_from, all_rows); !done) return done;
    if (auto done = local_errors.read(database, rows.local_errors, local_error_from, all_rows); !done) return done;
    if (auto done = alarms.read(database, rows.alarms, alarm_from, all_rows); !done) return done;
    return states.read(database, rows.states, state_from, all_rows);
}

Result<std::optional<StateRow>> RunReader::Impl::recorded_state() {
    const int code = last_state.step();
    std::optional<StateRow> row;
    if (code == SQLITE_ROW) row = state_from(last_state);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        Error error = source.database().last_error("reading");
        last_state.reset();
        return error;
    }
    last_state.reset();
    return row;
}

RunReader::RunReader(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
RunReader::~RunReader() = default;

Result<std::unique_ptr<RunReader>> RunReader::open(const std::filesystem::path& run_folder, std::int64_t rank) {
    auto impl = std::make_unique<Impl>();
    impl->folder = RunFolder{run_folder};
    impl->rank = rank;
    auto opened = db::ReadOnlyDatabase::open(rank_database(run_folder, rank));
    if (!opened) return opened.error();
    impl->source = std::move(opened).value();
    if (auto prepared = impl->prepare(); !prepared) return prepared.error();
    return std::unique_ptr<RunReader>(new RunReader(std::move(impl)));
}

Result<RunRows> RunReader::read_new(std::int64_t limit) {
    if (auto done = m_impl->refresh(); !done) return done.error();
    // One transaction: all tables as of the same moment. It is short, so the writer's checkpoints aren't held
    // up.
    RunRows rows;
    m_impl->begin.step();
    m_impl->begin.reset();
    auto read = m_impl->read_tables(rows, std::max<std::int64_t>(limit, 0));
    m_impl->commit.step();
    m_impl->commit.reset();
    if (!read) return read.error();
    return rows;
}

Result<std::vector<TensorStatRow>> RunReader::tensor_stats(TensorRole role, const std::string& tensor, std::int64_t from_step,
                                                           std::int64_t to_step) {
    std::vector<TensorStatRow> rows;
    if (auto done = m_impl->refresh(); !done) return done.error();
    if (m_impl->is_old) return rows;
    auto statement = m_impl->source.database().prepare(
        "SELECT rowid, step, tensor, role, dtype, elements, nan, pos_inf, neg_inf, zero, negative, subnormal, largest,"
        " smallest_nonzero, mean, mean_abs, rms, unmoved, exponents FROM tensor_stats"
        " WHERE role = ?1 AND (?2 = '' OR tensor = ?2) AND step BETWEEN ?3 AND ?4 ORDER BY step, rowid");
    if (!statement) return statement.error();
    statement->bind_static(0, to_string(role));
    statement->bind(1, std::string_view(tensor));
    statement->bind(2, from_step);
    statement->bind(3, to_step);
    int code = SQLITE_ROW;
    while ((code = statement->step()) == SQLITE_ROW) {
        rows.push_back(tensor_stat_from(*statement));
        rows.back().exponents = statement->blob(18);
    }
    if (code != SQLITE_DONE) return m_impl->source.database().last_error("reading");
    return rows;
}

Result<std::vector<ExtremesRow>> RunReader::extremes() {
    std::vector<ExtremesRow> rows;
    if (auto done = m_impl->refresh(); !done) return done.error();
    if (m_impl->is_old) return rows;
    auto statement =
        m_impl->source.database().prepare("SELECT first_step, steps, \"values\" FROM extremes ORDER BY first_step");
    if (!statement) return statement.error();
    int code = SQLITE_ROW;
    while ((code = statement->step()) == SQLITE_ROW) {
        ExtremesRow row;
        row.first_step = statement->amount(0);
        row.steps = statement->amount(1);
        if (auto read = extremes_from_blob(statement->blob(2), row); !read) return read.error();
        rows.push_back(std::move(row));
    }
    if (code != SQLITE_DONE) return m_impl->source.database().last_error("reading");
    return rows;
}

Result<std::map<std::string, std::string>> RunReader::meta() {
    if (auto done = m_impl->refresh(); !done) return done.error();
    auto statement = m_impl->source.database().prepare("SELECT key, value FROM meta");
    if (!statement) return statement.error();
    std::map<std::string, std::string> values;
    int code = SQLITE_ROW;
    while ((code = statement->step()) == SQLITE_ROW) values[statement->text(0)] = statement->text(1);
    if (code != SQLITE_DONE) return m_impl->source.database().last_error("reading");
    return values;
}

std::string RunReader::Impl::who_is_gone() const {
    const auto lives = read_lives(folder.path);
    std::string names;
    for (const RankLife& life : lives) {
        if (life.is_alive || !life.end.empty()) continue;
        names += (names.empty() ? "" : "; ") + (lives.size() > 1 ? "rank " + std::to_string(life.rank) : std::string("the worker")) + " vanished " +
                 life.where() + (life.host.empty() ? "" : " (process " + std::to_string(life.process_id) + " on " + life.host + ")");
    }
    return (names.empty() ? "the worker ended" : names + ",") + std::string(" without a word (its lock is free, no end state)");
}

Result<StateRow> RunReader::state() {
    if (auto done = m_impl->refresh(); !done) return done.error();
    auto recorded = m_impl->recorded_state();
    if (!recorded) return recorded.error();
    const auto has_ended = [](const std::optional<StateRow>& row) { return row && is_end_state(row->state); };
    if (!has_ended(*recorded) && RunLock::is_free(m_impl->folder)) {
        // A worker writes its end state and then lets the lock go: with the lock free, a second look is
        // final.
        if (auto done = m_impl->refresh(); !done) return done.error();
        recorded = m_impl->recorded_state();
        if (!recorded) return recorded.error();
        const bool not_begun = !RunLock::was_ever_taken(m_impl->folder) &&
                               (!*recorded || (*recorded)->state == RunState::Queued);
        if (!has_ended(*recorded) && !not_begun) {
            const std::int64_t time = *recorded ? (*recorded)->time_ns : 0;
            return StateRow{time, RunState::Lost, m_impl->who_is_gone()};
        }
    }
    return recorded->value_or(StateRow{});
}

const std::filesystem::path& RunReader::folder() const {
    return m_impl->folder.path;
}

}  // namespace mantissa
