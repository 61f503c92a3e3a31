#pragma once
// Follows one looked-at step of a run in a thread of its own and starts its replays: a child `mantissa replay` in a session of its own, so
// that it goes on when the window is closed. Members and signals: window's thread, which never waits.
#include <QObject>
#include <QTimer>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "ui/bridge/replay_reader.h"

namespace mantissa::ui {

class ReplayFollower : public QObject {
    Q_OBJECT
  public:
    ReplayFollower(std::filesystem::path run, std::int64_t step, QObject* parent = nullptr);
    ~ReplayFollower() override;

    [[nodiscard]] const std::filesystem::path& run() const { return m_run; }
    [[nodiscard]] std::int64_t step() const { return m_step; }
    [[nodiscard]] const ReplaySnapshot& snapshot() const { return m_snapshot; }
    /// Nothing has been read yet.
    [[nodiscard]] bool isReading() const { return !m_hasRead; }
    /// A replay that this object started and that hasn't ended.
    [[nodiscard]] bool isReplaying() const { return m_child > 0; }
    [[nodiscard]] bool isCancelling() const { return m_isCancelling; }
    /// Why the last replay could not be started, or what it said when it ended with an error.
    [[nodiscard]] const QString& problem() const { return m_problem; }

    /// `options` follow `mantissa replay RUN --step N`. Nothing while one is going.
    void start(const std::vector<std::string>& options = {});
    /// SIGINT: the replay ends after what it has and keeps it.
    void cancel();

  Q_SIGNALS:
    void changed();
    void replayEnded();

  private:
    void poll(std::stop_token stop);
    void watchChild();
    [[nodiscard]] std::filesystem::path log() const;

    const std::filesystem::path m_run;
    const std::int64_t m_step;
    ReplaySnapshot m_snapshot;
    bool m_hasRead = false, m_isCancelling = false;
    QString m_problem;
    int m_child = 0;
    QTimer m_watch;

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::jthread m_thread;  // last: it is joined before anything it uses goes away
};

}  // namespace mantissa::ui
