#pragma once
// The window as a place to let files fall on: plans, configurations and models go to Set up, folders are opened.
#include <QObject>
#include <filesystem>

#include "base/result.h"

namespace mantissa::ui {

class MainWindow;
class SetupPage;

/// What somebody let fall, told by its content, of which at most the two ends are read.
enum class DroppedKind { Folder, Plan, Configuration, ScriptModel, LayerList, Data, Bundle, Unknown };
[[nodiscard]] DroppedKind kindOfDropped(const std::filesystem::path& path);

class DropTarget : public QObject {
    Q_OBJECT
  public:
    /// Listens to `window`, and lives as long.
    DropTarget(MainWindow& window, SetupPage& setup);

  private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void take(const QString& name);
    void say(const Result<void>& opened);

    MainWindow& m_window;
    SetupPage& m_setup;
};

}  // namespace mantissa::ui
