#pragma once
// Above the pages: title of the comparison, one short line of its plan, "Ctrl+K commands", the language, the
// menu.
#include <QFrame>

class QLabel;
class QPushButton;
class QToolButton;

namespace mantissa::ui {

class ActionCatalog;

class TopBar : public QFrame {
    Q_OBJECT
  public:
    explicit TopBar(const ActionCatalog& catalog, QWidget* parent = nullptr);
    void setTitle(const QString& title, const QString& planLine);
    void tint(const QColor& colour);
    [[nodiscard]] QString title() const;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fillMenu();
    void elide();

    const ActionCatalog& m_catalog;
    QLabel* m_title;
    QLabel* m_plan;
    QPushButton* m_commands;
    QPushButton* m_language;
    QToolButton* m_menu;
    QString m_planText;
};

}  // namespace mantissa::ui
