#pragma once
// Live: a comparison or a single run, running or long over, from its folder alone. By importance: headline, a strip per mode, loss and
// step ledger, three small charts, the rest folded.
#include <QWidget>
#include <filesystem>
#include <memory>
#include <vector>

#include "ui/bridge/comparison_follower.h"
#include "ui/bridge/run_controller.h"
#include "ui/bridge/theme.h"
#include "ui/live/live_words.h"
#include "ui/charts/chart_run.h"
#include "ui/charts/plot_options.h"

class QLabel;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace mantissa {
struct PrecisionAnswer;
}

namespace mantissa::ui {

class ChartCard;
class FoldRow;
class HeadlineBar;
class LossPanel;
class ModeStrips;
class StepRange;

class LivePage : public QWidget {
    Q_OBJECT
  public:
    explicit LivePage(Theme& theme, QWidget* parent = nullptr);
    ~LivePage() override;

    void showComparison(const std::filesystem::path& folder) { showFolder(folder); }
    void showRun(const std::filesystem::path& folder) { showFolder(folder); }
    /// Back to the empty page.
    void showNothing();
    /// Of the judge's texts: "en" or "zh".
    void setLanguage(const std::string& language);
    [[nodiscard]] RunController& controller() { return m_controller; }
    [[nodiscard]] const ComparisonFollower* follower() const { return m_follower.get(); }
    [[nodiscard]] LossPanel& lossPanel() { return *m_loss; }
    /// What was chosen above the loss chart: scale, view, x, smoothing.
    [[nodiscard]] const PlotOptions& lossOptions() const;
    void setLossOptions(const PlotOptions& options);
    [[nodiscard]] StepRange& range() { return *m_range; }

  Q_SIGNALS:
    void headlineChanged(const QString& text, const QString& severity);
    void titleChanged(const QString& title, const QString& subtitle);
    void statusChanged(const QString& text);
    void openSampleRequested();
    void setUpRequested();
    void failed(const QString& sentence);

  private:
    void showFolder(const std::filesystem::path& folder);
    void build();
    QWidget* buildSmallCharts();
    void buildFolds();
    ChartCard* addChart(const QString& title, const PlotOptions& options, const char* name, bool isFolded);
    void setRuns();
    void refresh();
    void refreshRecord();
    void refreshStrips();
    [[nodiscard]] PrecisionAnswer answerOf(std::size_t row);
    void refreshHeadline();
    void refreshVerdicts();
    void refreshSubtitles();
    void setXKind(XKind kind);

    Theme& m_theme;
    StepRange* m_range;
    RunController m_controller;
    std::string m_language = "en";
    std::unique_ptr<ComparisonFollower> m_follower;
    std::vector<ChartRun> m_runs;
    XKind m_xKind = XKind::Step;
    Headline m_headline;
    QString m_title, m_subtitle, m_status;

    QStackedWidget* m_stack;
    QScrollArea* m_scroll;
    HeadlineBar* m_headlineBar;
    ModeStrips* m_strips;
    LossPanel* m_loss;
    ChartCard* m_scale;
    ChartCard* m_memory;
    std::vector<ChartCard*> m_charts;  // all but the loss
    FoldRow* m_folds;
    QLabel* m_verdicts;
};

}  // namespace mantissa::ui
