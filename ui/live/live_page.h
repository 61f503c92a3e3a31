#pragma once
// Live: a comparison or a single run, running or long over, from its folder alone. By importance: headline, a strip per mode, loss and
// step ledger, three small charts, the rest folded.
#include <QWidget>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "ui/bridge/comparison_follower.h"
#include "ui/bridge/run_controller.h"
#include "ui/bridge/theme.h"
#include "ui/charts/chart_run.h"
#include "ui/charts/plot_options.h"
#include "ui/charts/step_range.h"
#include "ui/live/bad_step.h"
#include "ui/live/live_alarms.h"
#include "ui/live/live_words.h"
#include "ui/live/runs_before.h"

class QLabel;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace mantissa {
struct PrecisionAnswer;
}

namespace mantissa::ui {

class FoldRow;
class HeadlineBar;
class LiveCharts;
class LossPanel;
class ModeStrips;

/// What a person chose to look at, in any language.
struct LiveView {
    PlotOptions loss;
    std::optional<XSpan> zoom;
    bool isFollowing = false, isWhyOpen = false;
    std::vector<bool> openFolds;
};

/// A run on the page.
struct ShownRun {
    Precision mode = Precision::No;
    std::filesystem::path folder;
    bool hasEnded = false;
};

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
    [[nodiscard]] LiveView view() const;
    /// A zoom is taken up once there are steps to zoom into.
    void setView(const LiveView& view);
    [[nodiscard]] std::vector<ShownRun> shownRuns() const;
    [[nodiscard]] StepRange& range() { return *m_range; }
    /// What "Why did fp16 stop?" asks about.
    [[nodiscard]] std::optional<BadStep> firstBadStep() const;

  Q_SIGNALS:
    void headlineChanged(const QString& text, const QString& severity);
    void titleChanged(const QString& title, const QString& subtitle);
    void statusChanged(const QString& text);
    void checkpointRequested();
    /// `run`: the one chosen by its menu; empty when the page as a whole was asked.
    void saveWeightsRequested(const std::filesystem::path& run);
    void continueRequested(const std::filesystem::path& run);
    void replayRequested(const std::filesystem::path& run, std::int64_t step);
    void badStepsChanged();
    void openSampleRequested();
    void setUpRequested();
    void failed(const QString& sentence);

  private:
    void showFolder(const std::filesystem::path& folder);
    void build();
    void connectParts();
    [[nodiscard]] std::filesystem::path folderOf(std::size_t row) const;
    void restoreZoom();
    void buildFolds();
    void setRuns();
    void refresh();
    void refreshRecord();
    void refreshStrips();
    [[nodiscard]] PrecisionAnswer answerOf(std::size_t row);
    void refreshHeadline();
    void refreshVerdicts();
    void refreshAlarms();
    void setXKind(XKind kind);

    Theme& m_theme;
    StepRange* m_range;
    RunController m_controller;
    std::string m_language = "en";
    std::unique_ptr<ComparisonFollower> m_follower;
    RunsBefore m_before;
    LiveAlarms m_alarms;
    std::vector<ChartRun> m_runs;
    std::optional<LiveView> m_pendingView;
    std::vector<std::optional<BadStep>> m_bad;  // a row each, as the strips
    XKind m_xKind = XKind::Step;
    Headline m_headline;
    QString m_title, m_subtitle, m_status;

    QStackedWidget* m_stack;
    QScrollArea* m_scroll;
    HeadlineBar* m_headlineBar;
    QLabel* m_origin;
    ModeStrips* m_strips;
    LossPanel* m_loss;
    LiveCharts* m_charts;
    FoldRow* m_folds;
    QLabel *m_verdicts, *m_alarmList;
};

}  // namespace mantissa::ui
