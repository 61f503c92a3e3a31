#include "ui/lessons/lesson_runner.h"

#include <algorithm>
#include <limits>

namespace mantissa::ui {

LessonRunner::LessonRunner(std::filesystem::path runs, QObject* parent) : QObject(parent), m_runs(std::move(runs)) {
    connect(&m_tick, &QTimer::timeout, this, &LessonRunner::tick);
    connect(&m_controller, &RunController::changed, this, &LessonRunner::changed);
}

LessonRunner::~LessonRunner() = default;

const LessonRun* LessonRunner::currentRun() const { return m_isRunning && m_next > 0 ? &m_lesson.runs[m_next - 1] : nullptr; }

void LessonRunner::start(const Lesson& lesson, const std::string& prediction) {
    if (m_isRunning) {
        return;
    }
    m_lesson = lesson;
    m_follower.reset();
    m_controller.leave();
    auto session = create_lesson_session(m_runs, lesson, prediction);
    if (!session) {
        Q_EMIT failed(QString::fromStdString(describe(session.error())));
        return;
    }
    m_session = std::move(*session);
    m_next = 0;
    m_isRunning = true;
    m_isHeld = m_isStopped = false;
    startNext();
}

void LessonRunner::startNext() {
    if (m_next == m_lesson.runs.size() || m_isStopped) {
        m_isRunning = false;
        m_tick.stop();
        m_controller.leave();
        Q_EMIT changed();
        if (!m_isStopped) {
            Q_EMIT finished();
        }
        return;
    }
    const LessonRun& run = m_lesson.runs[m_next++];
    const auto plan = lesson_plan(m_lesson, run);
    if (!plan) {
        jobFailed(QString::fromStdString(describe(plan.error())));
        return;
    }
    Q_EMIT changed();
    Q_EMIT startRequested(run.modes.size() > 1 ? JobKind::Comparison : JobKind::SingleRun, *plan);
}

void LessonRunner::jobFailed(const QString& sentence) {
    m_isRunning = false;
    m_tick.stop();
    Q_EMIT changed();
    Q_EMIT failed(sentence);
}

void LessonRunner::jobStarted(const std::filesystem::path& folder) {
    if (!m_isRunning) {
        return;
    }
    if (const auto kept = add_lesson_job(*m_session, m_lesson.runs[m_next - 1].id, folder); !kept) {
        jobFailed(QString::fromStdString(describe(kept.error())));
        return;
    }
    follow(folder);
}

void LessonRunner::follow(const std::filesystem::path& folder) {
    m_follower = std::make_unique<ComparisonFollower>(folder);
    m_sent = 0;
    connect(m_follower.get(), &ComparisonFollower::runsChanged, this, &LessonRunner::changed);
    connect(m_follower.get(), &ComparisonFollower::advanced, this, [this] {
        Q_EMIT advanced();
        look();
    });
    connect(m_follower.get(), &ComparisonFollower::recordChanged, this, &LessonRunner::look);
    m_controller.follow(folder);
    setPace(m_pace);
    Q_EMIT changed();
}

void LessonRunner::show(const LessonSession& session, const Lesson& lesson, const std::string& run) {
    const auto job = session.jobs.find(run);
    if (m_isRunning || job == session.jobs.end()) {
        return;
    }
    m_lesson = lesson;
    m_session = session;
    follow(job->second);
}

void LessonRunner::forget() {
    if (!m_isRunning) {
        m_controller.leave();
        m_follower.reset();
        m_session.reset();
        Q_EMIT changed();
    }
}

void LessonRunner::look() {
    // A comparison has ended when its supervisor judged it, a single run with its end state.
    if (m_isRunning && m_follower != nullptr && m_follower->hasEnded()) {
        // Not inside the follower's own signal: the next job replaces it.
        QMetaObject::invokeMethod(this, [this, ended = m_follower.get()] {
            if (m_isRunning && ended == m_follower.get()) {
                m_controller.leave();
                m_tick.stop();
                startNext();
            }
        }, Qt::QueuedConnection);
    }
}

void LessonRunner::stop() {
    if (m_isRunning) {
        m_isStopped = true;
        m_controller.stop();
    }
}

void LessonRunner::setPace(double stepsPerSecond) {
    const bool wasPaced = m_pace > 0;
    m_pace = stepsPerSecond;
    if (!m_isRunning) {
        return;
    }
    if (m_pace > 0) {
        m_sent = stepsSeen();
        m_tick.start(std::max(5, static_cast<int>(1000 / m_pace)));
        return;
    }
    m_tick.stop();
    if (wasPaced && !m_isHeld && m_controller.isPaused()) {
        m_controller.pauseOrResume();
    }
}

/// Steps of the run that is least far, of those that still go.
std::int64_t LessonRunner::stepsSeen() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    if (m_follower == nullptr) {
        return 0;
    }
    for (const auto& run : m_follower->runs()) {
        if (!run->hasEnded()) {
            least = std::min(least, static_cast<std::int64_t>(run->series().size()));
        }
    }
    return least == std::numeric_limits<std::int64_t>::max() ? 0 : least;
}

void LessonRunner::tick() {
    // A command to a run that isn't there yet would be lost, and those that a slow run hasn't obeyed would pile up.
    const auto lag = static_cast<std::int64_t>(m_pace / 3) + 2;
    if (m_isHeld || !m_controller.isAvailable() || m_sent > stepsSeen() + lag) {
        return;
    }
    ++m_sent;
    m_controller.stepOnce();
}

void LessonRunner::pauseOrResume() {
    m_isHeld = !m_isHeld;
    if (m_isHeld != m_controller.isPaused() && m_pace <= 0) {
        m_controller.pauseOrResume();
    }
    Q_EMIT changed();
}

void LessonRunner::stepOnce() {
    m_isHeld = true;
    m_controller.stepOnce();
    Q_EMIT changed();
}

}  // namespace mantissa::ui
