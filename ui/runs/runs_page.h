#pragma once
// The page Runs: every comparison and single run below the runs folder, newest first. Opens (Enter, double
// click) on the Live page, which follows running ones; deletes with a way back; writes the HTML report.
// Reading happens in the scanner's thread.
#include <QFileSystemWatcher>
#include <QTimer>
#include <QWidget>
#include <filesystem>

#include "ui/runs/run_scan.h"
#include "ui/runs/run_trash.h"
#include "ui/runs/runs_model.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace mantissa::ui {

class RunDetails;
class RunsFilter;
class Theme;

class RunsPage : public QWidget {
    Q_OBJECT
  public:
    RunsPage(const Theme& theme, std::filesystem::path runs, QWidget* parent = nullptr);
    ~RunsPage() override;
    void refresh();
    [[nodiscard]] RunsModel& model() { return m_model; }
    [[nodiscard]] QString folderText() const { return QString::fromStdString(m_runs.string()); }
    [[nodiscard]] QTableView& table() { return *m_table; }
    /// The runs of the chosen row; none while the page is hidden.
    [[nodiscard]] std::vector<RunOfEntry> chosenRuns() const;
    /// Moves the entry to the trash and offers Undo; asks nobody (the button asks first).
    void removeEntry(const RunEntry& entry);
    [[nodiscard]] bool canUndoRemove() const { return m_undoBar != nullptr && !m_undoBar->isHidden(); }
    void undoRemove();

  Q_SIGNALS:
    void openRequested(const std::filesystem::path& folder, bool isComparison);
    void saveWeightsRequested(const std::filesystem::path& run);
    void continueRequested(const std::filesystem::path& run);
    void replayRequested(const std::filesystem::path& run, std::int64_t step);
    void message(const QString& text);
    void choiceChanged();
    /// Workers at work now, for the status strip.
    void workersChanged(int workers);

  protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void buildTable();
    QWidget* buildTools();
    QWidget* buildUndoBar();
    [[nodiscard]] const RunEntry* marked() const;
    void choose(const std::filesystem::path& folder);
    void takeEntries(const std::vector<RunEntry>& entries);
    void watch();
    void updateButtons();
    void openMarked();
    void askAndRemoveMarked();
    void openFolderOfMarked();
    void writeReportOfMarked();
    void showContextMenu(const QPoint& at);

    const std::filesystem::path m_runs;
    RunsModel m_model;
    RunsFilter* m_filter;
    RunScanner m_scanner;
    RunTrash m_trash;
    QFileSystemWatcher m_watcher;
    QTimer m_soon, m_regular, m_grace;
    QLineEdit* m_words = nullptr;
    QTableView* m_table = nullptr;
    QLabel* m_empty = nullptr;
    QLabel* m_undoText = nullptr;
    QWidget* m_undoBar = nullptr;
    QStackedWidget* m_stack = nullptr;
    RunDetails* m_details = nullptr;
    QPushButton *m_open = nullptr, *m_report = nullptr, *m_folder = nullptr, *m_delete = nullptr;
    std::string m_removedName;
};

}  // namespace mantissa::ui
