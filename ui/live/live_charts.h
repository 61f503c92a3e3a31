#pragma once
// The charts of the page Live beside the loss: three small ones in a row (loss scale, headroom of the worst tensor, memory) and the folded
// ones. Until a run has recorded tensors the gradient norm stands where the headroom will be; it is always among the folded ones.
#include <QObject>
#include <vector>

#include "ui/bridge/theme.h"
#include "ui/charts/chart_run.h"
#include "ui/charts/plot_options.h"
#include "ui/charts/step_range.h"

class QWidget;

namespace mantissa::ui {

class ChartCard;
class ComparisonFollower;
class FoldRow;

class LiveCharts : public QObject {
    Q_OBJECT
  public:
    LiveCharts(Theme& theme, StepRange& range, QWidget* parent);

    [[nodiscard]] QWidget* smallRow() const { return m_row; }
    void addFolds(FoldRow& folds);
    /// `runs`: as the loss has them. `follower`: whose headroom is shown; null when there is nothing.
    void setRuns(const std::vector<ChartRun>& runs, const ComparisonFollower* follower);
    void setXKind(XKind kind);
    void refresh(const ComparisonFollower& follower);

  Q_SIGNALS:
    void failed(const QString& sentence);

  private:
    ChartCard* addChart(const QString& title, Quantity quantity, ValueScale scale, const char* name, bool isFolded);
    void refreshSubtitles(const ComparisonFollower& follower);

    Theme& m_theme;
    StepRange& m_range;
    QWidget* m_row;
    ChartCard *m_scale, *m_headroom, *m_norm, *m_memory;
    ChartCard *m_foldedNorm, *m_throughput, *m_stepTime, *m_rate;
    std::vector<ChartCard*> m_all;
};

}  // namespace mantissa::ui
