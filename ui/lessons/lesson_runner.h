#pragma once
// Takes the runs of a lesson, one job after the other, as the command line does: real processes, a recording each. The prediction is
// kept before the first of them starts. The shell starts the jobs, since it keeps their supervisors. Window's thread; never waits.
#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>

#include "launch/job.h"
#include "lessons/lesson_session.h"
#include "ui/bridge/comparison_follower.h"
#include "ui/bridge/run_controller.h"

namespace mantissa::ui {

class LessonRunner : public QObject {
    Q_OBJECT
  public:
    explicit LessonRunner(std::filesystem::path runs, QObject* parent = nullptr);
    ~LessonRunner() override;

    void start(const Lesson& lesson, const std::string& prediction);
    /// Of the job that startRequested asked for.
    void jobStarted(const std::filesystem::path& folder);
    void jobFailed(const QString& sentence);
    void stop();
    /// A run of a lesson that was taken before, without training.
    void show(const LessonSession& session, const Lesson& lesson, const std::string& run);
    void forget();

    [[nodiscard]] bool isRunning() const { return m_isRunning; }
    [[nodiscard]] const Lesson& lesson() const { return m_lesson; }
    [[nodiscard]] const LessonRun* currentRun() const;
    [[nodiscard]] ComparisonFollower* follower() const { return m_follower.get(); }
    [[nodiscard]] RunController& controller() { return m_controller; }
    /// Complete once the lesson has ended.
    [[nodiscard]] const std::optional<LessonSession>& session() const { return m_session; }

    /// Steps a second of each run; 0 = as fast as they go.
    void setPace(double stepsPerSecond);
    [[nodiscard]] double pace() const { return m_pace; }
    void pauseOrResume();
    void stepOnce();
    [[nodiscard]] bool isPaused() const { return m_isHeld; }

  Q_SIGNALS:
    void startRequested(mantissa::JobKind kind, const mantissa::SourcedPlan& plan);
    void changed();   // what runs, or how
    void advanced();  // more steps
    void finished();  // all runs ended; session() names them
    void failed(const QString& sentence);

  private:
    void startNext();
    void follow(const std::filesystem::path& folder);
    void look();
    void tick();
    [[nodiscard]] std::int64_t stepsSeen() const;

    const std::filesystem::path m_runs;
    Lesson m_lesson;
    std::optional<LessonSession> m_session;
    std::size_t m_next = 0;
    bool m_isRunning = false, m_isHeld = false, m_isStopped = false;
    std::unique_ptr<ComparisonFollower> m_follower;
    RunController m_controller;
    QTimer m_tick;
    double m_pace = 0;
    std::int64_t m_sent = 0;
};

}  // namespace mantissa::ui
