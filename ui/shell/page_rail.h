#pragma once
// The left rail: one button with icon and text for each page that is built. Only a view: the window owns the
// pages.
#include <QFrame>
#include <QHash>
#include <QIcon>

class QButtonGroup;
class QToolButton;
class QVBoxLayout;

namespace mantissa::ui {

class PageRail : public QFrame {
    Q_OBJECT
  public:
    explicit PageRail(QWidget* parent = nullptr);
    void addPage(const QString& id, const QString& iconName);
    void setPageText(const QString& id, const QString& text, const QString& toolTip);
    void setCurrent(const QString& id);
    /// Colours of the icons after a change of theme: text for the current page, muted for the others.
    void tint(const QColor& normal, const QColor& current);
    [[nodiscard]] QStringList pages() const { return m_order; }

  Q_SIGNALS:
    void pageChosen(const QString& id);

  private:
    struct Entry {
        QToolButton* button = nullptr;
        QString iconName;
    };
    QHash<QString, Entry> m_entries;
    QStringList m_order;
    QButtonGroup* m_group;
    QVBoxLayout* m_layout;
};

}  // namespace mantissa::ui
