#pragma once
// Files of the page Set up: plans opened and saved, Accelerate's configuration read. The dialogs don't block. Window's thread only.
#include <QObject>
#include <QString>
#include <filesystem>

#include "base/result.h"

class QWidget;

namespace mantissa::ui {

class PlanEditor;

class PlanFiles : public QObject {
    Q_OBJECT
  public:
    PlanFiles(PlanEditor& editor, QWidget* page);

    Result<void> openPlanFile(const std::filesystem::path& file);
    /// As a source of settings, weaker than environment, plan and edits. Unknown keys and bad values are refused, and nothing changes.
    Result<void> openConfigFile(const std::filesystem::path& file);
    /// Accelerate's default file when there is one, else the folder it would lie in.
    [[nodiscard]] static QString defaultConfigPlace();

  public Q_SLOTS:
    void openPlan();
    void savePlan();
    void openConfig();

  Q_SIGNALS:
    void message(const QString& text);
    void refused(const QString& sentence);

  private:
    PlanEditor& m_editor;
    QWidget* m_page;
};

}  // namespace mantissa::ui
