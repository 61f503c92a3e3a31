#pragma once
// What a run leaves behind: checkpoints on command, its weights as a file, and a run that goes on from one of its checkpoints. Asks
// with dialogs that don't block; files are copied away from the window's thread.
#include <QObject>
#include <filesystem>
#include <functional>
#include <map>

#include "ui/bridge/checkpoint_watch.h"
#include "ui/bridge/weights_file.h"
#include "ui/live/live_page.h"

class QMessageBox;

namespace mantissa::ui {

class ActionCatalog;
class Language;
class LiveHost;
class RunsPage;
class SetupPage;

class RunKeeper : public QObject {
    Q_OBJECT
  public:
    RunKeeper(const ActionCatalog& catalog, const Language& language, LiveHost& live, RunsPage& runs, SetupPage& setup,
              QWidget* window);

    /// Without a dialog: a run that is going saves a checkpoint first.
    void saveWeightsTo(const std::filesystem::path& run, const std::filesystem::path& file);

  public Q_SLOTS:
    /// Every run that Live shows and that is still going.
    void checkpoint();
    /// An empty path is the run chosen on the page Runs while it is shown, else the one that Live shows; of several, a menu asks which.
    void saveWeights(const std::filesystem::path& run);
    void continueFrom(const std::filesystem::path& run);

  Q_SIGNALS:
    void message(const QString& text);
    void weightsWritten(const std::filesystem::path& file);

  private:
    struct Candidate {
        Precision mode = Precision::No;
        std::filesystem::path folder;
    };
    [[nodiscard]] std::vector<Candidate> candidates() const;
    void withRun(const std::filesystem::path& run, const std::function<void(const std::filesystem::path&)>& todo);
    void askWhereTo(const std::filesystem::path& run);
    void askForCheckpoint(const std::filesystem::path& run);
    void copy(const CheckpointInfo& from, const std::filesystem::path& file);
    void tellWritten(const WrittenWeights& written);
    void tellNothingSaved(const std::filesystem::path& run);
    void takeSaved(const std::filesystem::path& run, const std::filesystem::path& checkpoint);
    void takeFailed(const std::filesystem::path& run, const QString& sentence);
    void refresh();
    QMessageBox* addBox(const QString& title, const QString& text, const QString& more);

    const ActionCatalog& m_catalog;
    const Language& m_language;
    LiveHost& m_live;
    RunsPage& m_runs;
    SetupPage& m_setup;
    QWidget* m_window;
    CheckpointWatch m_watch;
    std::map<std::filesystem::path, std::filesystem::path> m_wanted;  // run to file, while its checkpoint is awaited
    QStringList m_saved;                                              // told together when all have come
};

}  // namespace mantissa::ui
