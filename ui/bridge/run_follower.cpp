#include "ui/bridge/run_follower.h"

#include <QMetaObject>
#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/files.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace {

constexpr auto pollInterval = std::chrono::milliseconds(50);
constexpr auto idleInterval = std::chrono::milliseconds(1000);  // a run that has ended can still be extended or reported lost
// Bounds one delivery, so that opening a run of a million steps never holds the window for longer than a blink.
constexpr std::int64_t mostStepsPerUpdate = 20'000;

template <typename T>
void moveTo(std::vector<T>& target, std::vector<T>& source) {
    target.insert(target.end(), std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
    source.clear();
}

}  // namespace

RunFollower::RunFollower(std::filesystem::path folder, Precision expected, QObject* parent)
    : QObject(parent), m_folder(std::move(folder)), m_expected(expected) {
    m_thread = std::jthread([this](std::stop_token stop) { poll(std::move(stop)); });
}

RunFollower::~RunFollower() {
    m_thread.request_stop();
    m_thread.join();
}

void RunFollower::poll(std::stop_token stop) {
    std::unique_ptr<RunReader> reader;
    while (!stop.stop_requested()) {
        Update update;
        bool isMore = false;
        std::error_code ignored;
        if (!reader && std::filesystem::exists(RunFolder{m_folder}.database(), ignored)) {
            if (auto opened = RunReader::open(m_folder); opened) {
                reader = std::move(*opened);
            } else {
                update.problem = describe(opened.error());
            }
        }
        if (reader) {
            isMore = readOnce(*reader, update);
        }
        const bool ended = is_end_state(m_lastState) && !isMore;
        update.stall = m_stallWatch.look(m_folder, m_lastState);
        summarizeWhenDue(update, ended);
        readPlanOnce(update);
        post(std::move(update));
        std::unique_lock lock(m_mutex);
        const auto wait = isMore ? std::chrono::milliseconds(1) : (ended ? idleInterval : pollInterval);
        m_wake.wait_for(lock, stop, wait, [] { return false; });
        // The window decides the pace: nothing is read ahead while it hasn't taken a full update.
        m_wake.wait(lock, stop, [this] {
            return static_cast<std::int64_t>(m_pending.rows.steps.size()) < mostStepsPerUpdate;
        });
    }
}

bool RunFollower::readOnce(RunReader& reader, Update& update) {
    // The state first: rows that were written before an end state are then surely in what is read after it.
    if (auto state = reader.state(); state) {
        if (state->state != m_lastState) {
            m_nextSummaryNs = 0;
        }
        m_lastState = state->state;
        update.state = std::move(*state);
    } else {
        update.problem = describe(state.error());
    }
    auto rows = reader.read_new(mostStepsPerUpdate);
    if (!rows) {
        update.problem = describe(rows.error());
        return false;
    }
    update.rows = std::move(*rows);
    return static_cast<std::int64_t>(update.rows.steps.size()) >= mostStepsPerUpdate;
}

void RunFollower::summarizeWhenDue(Update& update, bool ended) {
    std::error_code ignored;
    const bool isDue = monotonic_ns() >= m_nextSummaryNs && !(m_summarizedEnd && ended);
    if (!isDue || !std::filesystem::exists(RunFolder{m_folder}.database(), ignored)) {
        return;
    }
    const std::int64_t started = monotonic_ns();
    std::int64_t pauseNs = 1'000'000'000;
    if (auto summary = summarize_run(m_folder); summary) {
        // A run writes what it is before its first step; a summary from before that knows nothing yet, and is no news.
        if (summary->planned_steps > 0 || ended) {
            update.summary = std::move(*summary);
            m_summarizedEnd = ended;
        } else {
            pauseNs = 100'000'000;
        }
    }
    // A summary reads the whole run: it may take at most a twentieth of this thread's time.
    const std::int64_t cost = monotonic_ns() - started;
    m_nextSummaryNs = monotonic_ns() + std::max(pauseNs, 20 * cost);
}

void RunFollower::readPlanOnce(Update& update) {
    if (m_hasPlan) {
        return;
    }
    if (auto plan = read_file(RunFolder{m_folder}.plan()); plan) {
        update.planJson = std::move(*plan);
        m_hasPlan = true;
    }
}

void RunFollower::post(Update update) {
    const std::lock_guard lock(m_mutex);
    const bool isNews = !update.rows.empty() || update.summary || !update.planJson.empty() || update.problem != m_lastProblem ||
                        update.stall != m_lastStall || (update.state && update.state->state != m_state.state);
    moveTo(m_pending.rows.steps, update.rows.steps);
    moveTo(m_pending.rows.evaluations, update.rows.evaluations);
    moveTo(m_pending.rows.incidents, update.rows.incidents);
    moveTo(m_pending.rows.op_dtypes, update.rows.op_dtypes);
    moveTo(m_pending.rows.tensor_stats, update.rows.tensor_stats);
    moveTo(m_pending.rows.alarms, update.rows.alarms);
    if (!update.planJson.empty()) {
        m_pending.planJson = std::move(update.planJson);
    }
    if (update.state) {
        m_pending.state = std::move(update.state);
    }
    if (update.summary) {
        m_pending.summary = std::move(update.summary);
    }
    m_pending.problem = m_lastProblem = update.problem;
    m_pending.stall = m_lastStall = update.stall;
    if (isNews && !m_isPosted) {
        m_isPosted = true;
        QMetaObject::invokeMethod(this, [this] { deliver(); }, Qt::QueuedConnection);
    }
}

void RunFollower::deliver() {
    Update update;
    {
        const std::lock_guard lock(m_mutex);
        std::swap(update, m_pending);
        m_pending.problem = update.problem;
        m_pending.stall = update.stall;
        m_isPosted = false;
        if (update.state) {
            m_state = *update.state;  // under the lock: the worker compares with it
        }
    }
    m_wake.notify_all();
    m_series.append(update.rows.steps);
    moveTo(m_evaluations, update.rows.evaluations);
    moveTo(m_incidents, update.rows.incidents);
    moveTo(m_opDtypes, update.rows.op_dtypes);
    moveTo(m_alarms, update.rows.alarms);
    m_headroom.append(update.rows.tensor_stats);
    if (!update.planJson.empty()) {
        m_planJson = std::move(update.planJson);
    }
    if (update.summary) {
        m_summary = std::move(update.summary);
    }
    m_stall = update.stall;
    m_headroom.update(m_series, mode(), hasEnded());
    m_problem = QString::fromStdString(update.problem);
    Q_EMIT advanced();
}

}  // namespace mantissa::ui
