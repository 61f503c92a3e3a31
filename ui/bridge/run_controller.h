#pragma once
// Pause, go on, one step, stop: one object for the window, whatever the scope. For processes it is a client of the supervisor's socket
// (retried until one listens); for scope thread the shell lends the run's RunControl. Window's thread only; never waits.
#include <QObject>
#include <QSocketNotifier>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <optional>

#include "host/run_control.h"
#include "launch/control_client.h"

namespace mantissa::ui {

class RunController : public QObject {
    Q_OBJECT
  public:
    explicit RunController(QObject* parent = nullptr);
    ~RunController() override;

    /// Looks for the supervisor of this job folder from now on.
    void follow(const std::filesystem::path& folder);
    /// Scope thread: `control` must outlive this, or be taken back with nullptr.
    void setThreadControl(RunControl* control);
    void leave();

    [[nodiscard]] bool isAvailable() const;
    /// Somebody else has the control: this window watches, and takes over when the other one ends.
    [[nodiscard]] bool isWatching() const { return m_client && !m_client->is_controller() && m_holder != 0; }
    /// A stop was asked for here and the runs haven't ended yet: the next thing to ask for is their end at once.
    [[nodiscard]] bool isStopping() const { return m_isStopping; }
    /// Also when a run paused itself (on_nonfinite = pause).
    [[nodiscard]] bool isPaused() const { return m_thread ? m_thread->is_paused() : m_isPaused; }
    /// A sentence for the tool tip when it isn't available: nobody listens, or another window holds the control.
    [[nodiscard]] QString reason() const;

  public Q_SLOTS:
    void pauseOrResume();
    void stepOnce();
    /// Runs save at their next step edge, or at once where they are paused. `run`: one mode of a comparison; empty = all.
    void checkpoint(const std::string& run = {});
    void stop();
    /// Kills the workers; what is recorded stays. Not for a run in this window's own thread.
    void abort();
    /// Level of watching of all runs of the job: 0, 1 or 2.
    void watch(int level);

  Q_SIGNALS:
    void changed();
    void refused(const QString& sentence);

  private:
    void send(ControlCommand command, const std::string& run = {});
    bool sendText(const std::string& command, const std::string& run);
    void tryToConnect();
    void takeEvents();
    void drop();

    std::filesystem::path m_folder;
    std::optional<ControlClient> m_client;
    std::unique_ptr<QSocketNotifier> m_notifier;
    RunControl* m_thread = nullptr;
    QTimer m_retry;
    std::int64_t m_holder = 0;  // the process that has the control
    bool m_isPaused = false, m_isStopping = false;
};

}  // namespace mantissa::ui
