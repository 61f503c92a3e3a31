#pragma once
// Loss and step ledger as one chart, with its controls: scale, view, x, smoothing; pause, one step, checkpoint, stop; continue when it is over.
#include <QMenu>

#include "ui/bridge/run_controller.h"
#include "ui/charts/chart_card.h"

class QActionGroup;
class QPushButton;
class QToolButton;

namespace mantissa::ui {

class LossPanel : public ChartCard {
    Q_OBJECT
  public:
    LossPanel(Theme& theme, StepRange& range, RunController& controller, QWidget* parent = nullptr);

    [[nodiscard]] const PlotOptions& lossOptions() const { return m_options; }
    void setLossOptions(const PlotOptions& options);
    /// Whether there is anything to pause or stop; over runs show no buttons.
    void setIsLive(bool isLive);
    /// A view against the control needs one.
    void setHasControl(bool hasControl);

  Q_SIGNALS:
    void xKindChanged(mantissa::ui::XKind kind);
    void lossOptionsChanged();
    void checkpointRequested();
    void continueRequested();

  private:
    QToolButton* addMenuButton(const char* name);
    template <typename Value>
    void addChoice(QMenu* menu, QActionGroup* group, const QString& text, Value value, Value PlotOptions::*field);
    void buildMenus();
    void buildViews();
    void buildControls();
    void updateTexts();
    void updateControls();
    void choose(PlotOptions options);

    RunController& m_controller;
    PlotOptions m_options;
    QToolButton* m_scale;
    QToolButton* m_x;
    QToolButton* m_smoothing;
    QToolButton* m_views[3];
    QPushButton* m_pause;
    QPushButton* m_one;
    QPushButton* m_checkpoint;
    QPushButton* m_stop;
    QPushButton* m_continue;
    bool m_isLive = false;
};

}  // namespace mantissa::ui
