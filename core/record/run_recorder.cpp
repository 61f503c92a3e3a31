#include "record/run_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/numbers.h"
#include "record/database.h"
#include "record/rank_file.h"
#include "record/row_writer.h"
#include "record/run_folder.h"
#include "record/schema.h"
#include "record/signal_guard.h"

namespace mantissa {
namespace {

constexpr std::chrono::milliseconds batch_interval{100};
constexpr int busy_timeout_ms = 30'000;
// 65,536 step rows are 12 MB: about a minute of a very fast run. The writer is woken early long before.
constexpr std::size_t queue_limit = 65'536;
constexpr std::size_t early_wake = 4'096;

}  // namespace

struct RunRecorder::Impl {
    db::Database database;  // after open(): the writer thread's
    std::optional<db::RowWriter> writer;
    std::filesystem::path path;
    std::int64_t saved_steps = 0;  // the writer thread's
    std::optional<std::int64_t> last_saved_step;
    db::RowBatch taken;  // the writer thread's: rows that are being written, or that could not be
    std::thread thread;
    std::unique_ptr<LifeFile> life;  // set before the run
    std::function<void(const TensorStatRow&)> tensor_stat_listener;  // the pushing thread's

    std::mutex mutex;  // protects all below
    std::condition_variable wake, progress;
    db::RowBatch queue;
    std::size_t queued = 0;  // rows in `queue`
    std::int64_t next_incident = 1;
    std::uint64_t flushes_wanted = 0, flushes_done = 0;
    bool ending = false;
    bool all_saved = true;       // nothing is left behind by the last attempt to write
    std::uint64_t given_up = 0;  // pushed after an error with a full queue
    std::optional<Error> error;
    std::atomic<bool> failed{false};  // mirrors `error`, for a look without the mutex

    Result<void> open(const std::filesystem::path& folder, std::int64_t rank);
    template <typename Row>
    void push(std::vector<Row> db::RowBatch::*list, Row&& row);
    void write_until_ended();
    void write_round(std::unique_lock<std::mutex>& lock);
    bool write_taken();
    void write_how_it_ended();
    Error explain(const Error& cause, std::size_t rows_left) const;
};

Result<void> RunRecorder::Impl::open(const std::filesystem::path& folder, std::int64_t rank) {
    const db::FileSizeSignalGuard guard;
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        return Error{ErrorCode::InputOutput, "the run folder " + folder.string() + " isn't there", ""};
    }
    path = rank_database(folder, rank);
    auto opened = db::Database::open(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path);
    if (!opened) return opened.error();
    database = std::move(opened).value();
    if (auto done = database.execute("PRAGMA busy_timeout = 30000"); !done) return done;
    static_assert(busy_timeout_ms == 30'000, "the pragma above");
    if (auto done = db::prepare_for_writing(database, path); !done) return done;
    auto prepared = db::RowWriter::prepare(database);
    if (!prepared) return prepared.error();
    writer.emplace(std::move(prepared).value());
    const auto steps = database.single_integer("SELECT count(*) FROM steps");
    const auto last = database.single_integer("SELECT ifnull(max(step), -1) FROM steps");
    const auto incident = database.single_integer("SELECT ifnull(max(id), 0) FROM incidents");
    if (!steps) return steps.error();
    if (!last) return last.error();
    if (!incident) return incident.error();
    saved_steps = *steps;
    if (*last >= 0) last_saved_step = *last;
    next_incident = *incident + 1;
    queue.steps.reserve(early_wake);
    taken.steps.reserve(early_wake);
    thread = std::thread([this] { write_until_ended(); });
    return {};
}

template <typename Row>
void RunRecorder::Impl::push(std::vector<Row> db::RowBatch::*list, Row&& row) {
    bool wake_writer = false;
    {
        std::unique_lock lock(mutex);
        if (queued >= queue_limit) {
            wake.notify_one();
            progress.wait(lock, [this] { return queued < queue_limit || error; });
            if (queued >=
                queue_limit) {  // only after an error: the run is about to stop, and the writer has given up
                ++given_up;
                return;
            }
        }
        if constexpr (std::is_same_v<std::decay_t<Row>, IncidentRow>) row.id = next_incident++;
        (queue.*list).push_back(std::forward<Row>(row));
        wake_writer = ++queued == early_wake;
    }
    if (wake_writer) wake.notify_one();
}

void RunRecorder::Impl::write_until_ended() {
    db::block_program_signals();
    std::unique_lock lock(mutex);
    while (!ending) {
        wake.wait_for(lock, batch_interval, [this] {
            return ending || flushes_wanted > flushes_done || (!error && queued >= early_wake);
        });
        // After an error only a flush or the end tries again: on a full disk every attempt costs.
        if (flushes_wanted > flushes_done || (queued > 0 && !error)) write_round(lock);
    }
    write_round(lock);
    const bool rows_left = !all_saved;
    lock.unlock();
    if (rows_left) write_how_it_ended();
    // Closing moves the log into the database file, which may fail like any write: here, where SIGXFSZ is
    // blocked.
    writer.reset();
    database = db::Database{};
}

void RunRecorder::Impl::write_round(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t flush = flushes_wanted;
    lock.unlock();
    // Rows that could not be written come first, so that their order is kept.
    bool saved = taken.size() == 0 || write_taken();
    lock.lock();
    if (saved && queued > 0) {
        std::swap(queue, taken);
        queued = 0;
        progress.notify_all();
        lock.unlock();
        saved = write_taken();
        lock.lock();
    }
    all_saved = saved && given_up == 0;
    flushes_done = std::max(flushes_done, flush);
    progress.notify_all();
}

/// Called without the mutex, by the writer thread.
bool RunRecorder::Impl::write_taken() {
    if (auto written = writer->write(taken); !written) {
        const Error explained = explain(written.error(), taken.size());
        const std::lock_guard lock(mutex);
        if (!error) error = explained;
        failed = true;
        return false;
    }
    if (!taken.steps.empty()) {
        saved_steps += static_cast<std::int64_t>(taken.steps.size());
        last_saved_step = taken.steps.back().step;
    }
    taken.clear();
    return true;
}

/// Last words on a full disk: the states alone fit into the space that the failed transaction has given back,
/// so that a reader sees how the run ended and not a lost run. Called by the writer thread when nobody pushes
/// any more.
void RunRecorder::Impl::write_how_it_ended() {
    db::RowBatch last;
    for (db::RowBatch* batch : {&taken, &queue}) {
        last.incidents.insert(last.incidents.end(), batch->incidents.begin(), batch->incidents.end());
        last.states.insert(last.states.end(), batch->states.begin(), batch->states.end());
        last.meta.insert(last.meta.end(), batch->meta.begin(), batch->meta.end());
    }
    if (last.size() == 0 || writer->write(last)) return;  // the first error is kept and tells the cause
    // A log that stands at a file-size limit begins anew once its rows are in the database file.
    static_cast<void>(database.execute("PRAGMA wal_checkpoint(PASSIVE)"));
    static_cast<void>(writer->write(last));
}

Error RunRecorder::Impl::explain(const Error& cause, std::size_t rows_left) const {
    Error explained = cause;
    explained.message += saved_steps > 0 ? "; saved are " + readable_count(saved_steps) +
                                               " steps, the last is step " + std::to_string(*last_saved_step)
                                         : "; no step is saved";
    explained.message += ", " + readable_count(static_cast<std::int64_t>(rows_left)) + " newer rows are not";
    return explained;
}

RunRecorder::RunRecorder(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}

Result<std::unique_ptr<RunRecorder>> RunRecorder::open(const std::filesystem::path& run_folder, std::int64_t rank) {
    auto impl = std::make_unique<Impl>();
    if (auto opened = impl->open(run_folder, rank); !opened) return opened.error();
    return std::unique_ptr<RunRecorder>(new RunRecorder(std::move(impl)));
}

RunRecorder::~RunRecorder() {
    {
        const std::lock_guard lock(m_impl->mutex);
        m_impl->ending = true;
    }
    m_impl->wake.notify_one();
    m_impl->thread.join();
}

void RunRecorder::step(const StepRow& row) {
    if (m_impl->life) m_impl->life->step_done(row.step);
    m_impl->push(&db::RowBatch::steps, StepRow(row));
}
void RunRecorder::micro_batch(const MicroBatchRow& row) {
    m_impl->push(&db::RowBatch::micro_batches, MicroBatchRow(row));
}
void RunRecorder::evaluation(EvaluationRow row) {
    m_impl->push(&db::RowBatch::evaluations, std::move(row));
}
void RunRecorder::memory(MemoryRow row) {
    m_impl->push(&db::RowBatch::memory, std::move(row));
}
void RunRecorder::op_dtypes(OpDtypeRow row) {
    m_impl->push(&db::RowBatch::op_dtypes, std::move(row));
}
void RunRecorder::incident(IncidentRow row) {
    m_impl->push(&db::RowBatch::incidents, std::move(row));
}
void RunRecorder::tensor_stat(TensorStatRow row) {
    if (m_impl->tensor_stat_listener) m_impl->tensor_stat_listener(row);
    m_impl->push(&db::RowBatch::tensor_stats, std::move(row));
}
void RunRecorder::extremes(ExtremesRow row) {
    m_impl->push(&db::RowBatch::extremes, std::move(row));
}
void RunRecorder::local_error(LocalErrorRow row) {
    m_impl->push(&db::RowBatch::local_errors, std::move(row));
}
void RunRecorder::alarm(AlarmRow row) {
    m_impl->push(&db::RowBatch::alarms, std::move(row));
}
void RunRecorder::state(RunState state, std::string reason) {
    if (state == RunState::Running) activity(Activity::Training);
    if (state == RunState::Paused) activity(Activity::Paused);
    m_impl->push(&db::RowBatch::states, StateRow{now_ns(), state, std::move(reason)});
}
void RunRecorder::meta(std::string key, std::string value) {
    m_impl->push(&db::RowBatch::meta, std::pair{std::move(key), std::move(value)});
}

Result<void> RunRecorder::begin_life(std::int64_t rank) {
    auto life = LifeFile::open(m_impl->path.parent_path(), rank);
    if (!life) return life.error();
    m_impl->life = std::move(*life);
    return {};
}
void RunRecorder::activity(Activity activity) {
    if (m_impl->life) m_impl->life->set_activity(activity);
}
void RunRecorder::end_life(RunState state, const std::string& reason, int exit_code) {
    if (m_impl->life) m_impl->life->end(state, reason, exit_code);
    m_impl->life.reset();
}

void RunRecorder::on_tensor_stat(std::function<void(const TensorStatRow&)> listener) {
    m_impl->tensor_stat_listener = std::move(listener);
}

Result<void> RunRecorder::flush() {
    std::unique_lock lock(m_impl->mutex);
    const std::uint64_t mine = ++m_impl->flushes_wanted;
    m_impl->wake.notify_one();
    m_impl->progress.wait(lock, [&] { return m_impl->flushes_done >= mine; });
    if (m_impl->all_saved) return {};
    return *m_impl->error;
}

Result<void> RunRecorder::sync() {
    if (auto done = flush(); !done) return done;
    // The log holds what was committed; SQLite itself syncs it only when it is moved into the database (synchronous=NORMAL).
    for (const char* suffix : {"", "-wal"}) {
        const std::string path = m_impl->path.string() + suffix;
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) continue;  // no log: everything is in the database
        const int failed = ::fsync(descriptor) == 0 ? 0 : errno;
        ::close(descriptor);
        if (failed != 0) {
            return Error{ErrorCode::InputOutput, path + " could not be synced: " + std::generic_category().message(failed), ""};
        }
    }
    return {};
}

std::optional<Error> RunRecorder::error() const {
    if (!m_impl->failed) return std::nullopt;
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->error;
}

}  // namespace mantissa
