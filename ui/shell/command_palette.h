#pragma once
// Ctrl+K: a line to type in and the commands that match, each with its shortcut. Enter starts the marked one,
// Escape closes.
#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace mantissa::ui {

class ActionCatalog;

class CommandPalette : public QDialog {
    Q_OBJECT
  public:
    explicit CommandPalette(const ActionCatalog& catalog, QWidget* parent);
    /// Enabled actions whose text holds every word typed, in any order and case.
    [[nodiscard]] static QList<QAction*> matches(const ActionCatalog& catalog, const QString& typed);
    void openOver(QWidget* window);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void refill();
    void startMarked();

    const ActionCatalog& m_catalog;
    QLineEdit* m_line;
    QListWidget* m_list;
    QList<QAction*> m_shown;
};

}  // namespace mantissa::ui
