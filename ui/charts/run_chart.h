#pragma once
// The one chart of the program: lines of several runs over Qt Charts, with marks, validation dots, cursor and, if asked for, the
// step ledger in the same widget on the same x axis. Qt Charts only draws the lines; axes, marks and lanes are our own painting
// (ChartScene, ChartPainter). Data comes by reference: call `refresh` once after any number of appended steps.
#include <QtCharts/QChartView>
#include <memory>
#include <vector>

#include "ui/bridge/theme.h"
#include "ui/charts/chart_run.h"
#include "ui/charts/chart_scene.h"
#include "ui/charts/plot_column.h"
#include "ui/charts/plot_options.h"
#include "ui/charts/polyline.h"
#include "ui/charts/repetition_band.h"

class QLineSeries;
class QValueAxis;

namespace mantissa::ui {

class RunChart : public QChartView {
    Q_OBJECT
  public:
    RunChart(Theme& theme, StepRange& range, QWidget* parent = nullptr);
    ~RunChart() override;

    void setRuns(std::vector<ChartRun> runs);
    [[nodiscard]] const std::vector<ChartRun>& runs() const { return m_runs; }
    /// Runs that repeat the control: no lines of their own, but the band that they span. They must outlive it, as the runs.
    void setRepetitions(std::vector<const RunSeries*> repetitions);
    [[nodiscard]] const std::vector<const RunSeries*>& repetitions() const { return m_band.repetitions(); }
    void setOptions(const PlotOptions& options);
    [[nodiscard]] const PlotOptions& options() const { return m_options; }
    void setHasLedger(bool hasLedger);
    /// A small chart: few labels, no marks' texts.
    void setCompact(bool compact);
    void setEmptyText(const QString& text);
    /// Takes in everything new. A chart that isn't visible does its work when it is shown.
    void refresh();

    [[nodiscard]] const ChartScene& scene() const { return m_scene; }
    /// Points handed to Qt Charts by the last refresh: the measure of its work.
    [[nodiscard]] qsizetype drawnPoints() const { return m_drawnPoints; }
    [[nodiscard]] StepRange& range() const { return m_range; }
    /// The whole widget as on the screen, onto any paint device (PNG, SVG).
    void paintOn(QPainter& painter, const QRectF& target);
    /// The sentences of the notes there.
    [[nodiscard]] QString noteAt(const QPointF& at) const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

  Q_SIGNALS:
    /// A step was picked with Enter or a click: the table twin shows it.
    void stepPicked(qint64 step);

  protected:
    void drawBackground(QPainter* painter, const QRectF& rect) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    struct Curve;

    void layOut();
    void updateColumns();
    void updateLines();
    void updateAxes();
    void updateLanes();
    void updateBand();
    void updateDots();
    void updateNotes();
    void updateCursor();
    void addCursorLine(std::size_t run, std::size_t index);
    void addSpreadLine(double x);
    void applyPens();
    void setPieces(Curve& curve, bool isSmooth, const Polyline& line);
    [[nodiscard]] QPen penOf(const Curve& curve, bool isSmooth) const;
    QLineSeries* newSeries(const Curve& curve, bool isSmooth);
    void addOnTop(QLineSeries* series);
    void raiseAbove(const Curve& below, bool isSmooth);
    [[nodiscard]] QString laneText(const ChartRun& run) const;
    [[nodiscard]] QString markLabel(const MarkCluster& cluster, Precision mode) const;
    [[nodiscard]] std::optional<double> dotY(std::size_t run, const EvaluationRow& evaluation, bool hasLoss) const;
    [[nodiscard]] QString fateText(const StepMark* mark) const;
    [[nodiscard]] double xAt(double pixel) const;
    void moveCursor(std::int64_t steps);
    void setCursorIndex(std::int64_t index);
    void jumpToBadStep();
    [[nodiscard]] const RunSeries* longest() const;

    Theme& m_theme;
    StepRange& m_range;
    PlotOptions m_options;
    std::vector<ChartRun> m_runs;
    std::vector<std::unique_ptr<Curve>> m_curves;
    QValueAxis* m_xAxis;
    QValueAxis* m_yAxis;
    RepetitionBand m_band;
    std::vector<std::vector<SpreadPoint>> m_bandPieces;
    ChartScene m_scene;
    QString m_emptyText;
    bool m_hasLedger = false, m_isCompact = false, m_isStale = true;
    qsizetype m_drawnPoints = 0;
    std::optional<QPointF> m_pressedAt;
    bool m_isPanning = false, m_isExporting = false;
};

}  // namespace mantissa::ui
