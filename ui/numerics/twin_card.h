#pragma once
// A card with a title, a line that reads values, and in the same place a chart or its table twin.
#include <QFrame>

#include "ui/numerics/value_table.h"

class QHBoxLayout;
class QLabel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace mantissa::ui {

class ElidedLabel;

class TwinCard : public QFrame {
    Q_OBJECT
  public:
    /// Takes `chart`.
    TwinCard(QWidget* chart, const char* name, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setReadout(const QString& text);
    [[nodiscard]] QString readout() const;
    /// Into the header, behind the title.
    void addControl(QWidget* control);
    [[nodiscard]] ValueTableModel& model() { return *m_model; }
    [[nodiscard]] QTableView& view() { return *m_view; }
    [[nodiscard]] bool isTableShown() const;

  Q_SIGNALS:
    /// The table is about to be seen: it is filled only while it is.
    void tableShown();

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void retranslate();

    QLabel* m_title;
    ElidedLabel* m_readout;
    QHBoxLayout* m_header;
    QToolButton* m_switch;
    QStackedWidget* m_stack;
    QWidget* m_chart;
    ValueTableModel* m_model;
    QTableView* m_view;
    int m_controls = 0;
};

}  // namespace mantissa::ui
