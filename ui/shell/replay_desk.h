#pragma once
// The ways to the page Replay and away from it: from Live, Runs and the commands to a step of a run; from the page to a run with the change
// that held, to the control, to a bundle. Asks with dialogs that don't block.
#include <QObject>
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "ui/setup/job_starter.h"

namespace mantissa::ui {

class ActionCatalog;
class LiveHost;
class ReplayPage;
class RunsPage;
class SetupPage;
class Theme;

class ReplayDesk : public QObject {
    Q_OBJECT
  public:
    ReplayDesk(const Theme& theme, const ActionCatalog& catalog, LiveHost& live, RunsPage& runs, SetupPage& setup, QWidget* window);

    [[nodiscard]] ReplayPage& page() { return *m_page; }
    [[nodiscard]] const QString& title() const { return m_title; }
    [[nodiscard]] const QString& subtitle() const { return m_subtitle; }
    /// A run, or a comparison's first run with an incident; without `step` its first incident.
    Result<void> open(const std::filesystem::path& folder, std::optional<std::int64_t> step = {});

  Q_SIGNALS:
    void opened();
    void backRequested();
    void titleChanged();
    void message(const QString& sentence);

  private:
    void openShown();
    void refresh();
    void askToApply();
    void startControl();
    void askForBundle();

    const ActionCatalog& m_catalog;
    LiveHost& m_live;
    RunsPage& m_runs;
    SetupPage& m_setup;
    QWidget* m_window;
    ReplayPage* m_page;
    JobStarter m_controls;  // Set up's own starter leads to Live, and this page wants to stay
    QString m_title, m_subtitle;
};

}  // namespace mantissa::ui
