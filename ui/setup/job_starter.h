#pragma once
// Starts what Set up describes: folders, then the supervisor (or, in scope thread, the engine in this
// process), away from the window's thread because the file system and a dlopen can be slow. Keeps the
// handles, so that ended supervisors are reaped.
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "launch/job.h"
#include "launch/supervisor.h"
#include "launch/thread_run.h"
#include "plan/plan_sources.h"

namespace mantissa::ui {

class JobStarter : public QObject {
    Q_OBJECT
  public:
    explicit JobStarter(std::filesystem::path runs, QObject* parent = nullptr);
    ~JobStarter() override;

    void start(JobKind kind, const SourcedPlan& plan);
    /// A job that something else makes ready, which may take its time: it is called away from the window's thread.
    void startPrepared(JobKind kind, std::function<Result<PreparedJob>()> prepare);
    [[nodiscard]] bool isStarting() const { return m_starting; }
    /// Of the run in this window's worker thread; null when there is none.
    [[nodiscard]] RunControl* threadControl() const;
    [[nodiscard]] bool hasThreadRun() const { return m_thread != nullptr && !m_thread->has_ended(); }

  Q_SIGNALS:
    void started(const std::filesystem::path& folder, bool isComparison);
    void failed(const QString& sentence);
    /// This process keeps the precision it has trained in: the window offers a fresh process (design rule
    /// 10).
    void freshProcessNeeded(mantissa::Precision mode);
    void threadRunEnded();

  private:
    struct Outcome;
    void launch(JobKind kind, std::function<Result<PreparedJob>()> prepare, bool inThread);
    void take(const std::shared_ptr<Outcome>& outcome, JobKind kind);
    void watch();

    const std::filesystem::path m_runs;
    std::vector<SupervisorHandle> m_supervisors;
    std::unique_ptr<ThreadRun> m_thread;
    QTimer m_watch;
    bool m_starting = false;
    bool m_threadTold = true;
};

}  // namespace mantissa::ui
