#pragma once
// A chart with its title, its own controls, a menu (table twin, export, zoom) and, in the same place, the table twin.
#include <QFrame>
#include <functional>

#include "ui/charts/run_chart.h"

class QHBoxLayout;
class QLabel;
class QMenu;
class QStackedWidget;
class QTableView;

namespace mantissa::ui {

class ElidedLabel;
class StepTableModel;

class ChartCard : public QFrame {
    Q_OBJECT
  public:
    ChartCard(Theme& theme, StepRange& range, const QString& title, QWidget* parent = nullptr);

    void setRuns(const std::vector<ChartRun>& runs);
    /// Of the control: they span a band behind its line, and two columns of the table.
    void setRepetitions(const std::vector<const RunSeries*>& repetitions);
    void setOptions(const PlotOptions& options);
    void refresh();
    void setTitle(const QString& title);
    void setSubtitle(const QString& text);
    /// Adds a control to the header: after the title, or at the right end.
    void addControl(QWidget* control);
    void addRightControl(QWidget* control);
    [[nodiscard]] RunChart& chart() { return *m_chart; }
    [[nodiscard]] bool isTableShown() const;
    void showTable(bool show);

  Q_SIGNALS:
    void failed(const QString& sentence);

  private:
    void buildMenu();
    void exportAs(const QString& filter, const QString& suffix, const std::function<Result<void>(const QString&)>& write);

    QLabel* m_title;
    ElidedLabel* m_subtitle;
    QHBoxLayout* m_header;
    QMenu* m_menu;
    QStackedWidget* m_stack;
    RunChart* m_chart;
    QTableView* m_table;
    StepTableModel* m_model;
    int m_controls = 0;
};

}  // namespace mantissa::ui
