#include "ui/charts/run_chart.h"

#include <QEvent>
#include <QtCharts/QChart>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>
#include <algorithm>
#include <cmath>

#include "ui/charts/run_chart_curve.h"

namespace mantissa::ui {
namespace {

/// In a small chart round numbers of a logarithm can come too close for their texts.
void dropCrowdedTicks(ChartScene& scene) {
    constexpr double closest = 13;
    std::vector<AxisTick> kept;
    for (AxisTick& tick : scene.yTicks) {
        if (kept.empty() || std::abs(scene.toPixelY(kept.back().position) - scene.toPixelY(tick.position)) >= closest) {
            kept.push_back(std::move(tick));
        }
    }
    scene.yTicks = std::move(kept);
}

}  // namespace

RunChart::RunChart(Theme& theme, StepRange& range, QWidget* parent)
    : QChartView(new QChart, parent), m_theme(theme), m_range(range), m_xAxis(new QValueAxis(this)),
      m_yAxis(new QValueAxis(this)) {
    chart()->legend()->hide();
    chart()->setBackgroundVisible(false);
    chart()->setMargins(QMargins(0, 0, 0, 0));
    chart()->setAnimationOptions(QChart::NoAnimation);
    for (QValueAxis* axis : {m_xAxis, m_yAxis}) {
        axis->setVisible(false);
    }
    chart()->addAxis(m_xAxis, Qt::AlignBottom);
    chart()->addAxis(m_yAxis, Qt::AlignLeft);
    setFrameShape(QFrame::NoFrame);
    setRenderHint(QPainter::Antialiasing);
    setBackgroundBrush(Qt::NoBrush);
    setStyleSheet(QStringLiteral("background: transparent;"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(&m_range, &StepRange::changed, this, &RunChart::refresh);
    connect(&m_range, &StepRange::cursorChanged, this, [this] {
        updateCursor();
        viewport()->update();
    });
    connect(&m_theme, &Theme::changed, this, [this] {
        applyPens();
        refresh();
    });
}

RunChart::~RunChart() = default;

void RunChart::setRuns(std::vector<ChartRun> runs) {
    m_runs = std::move(runs);
    for (const std::unique_ptr<Curve>& curve : m_curves) {
        for (auto* pool : {&curve->raw, &curve->smooth}) {
            for (QLineSeries* series : *pool) {
                chart()->removeSeries(series);
                series->deleteLater();
            }
        }
    }
    m_curves.clear();
    for (const ChartRun& run : m_runs) {
        auto curve = std::make_unique<Curve>();
        curve->mode = run.mode;
        curve->position = m_curves.size();
        curve->column.reset(m_options);
        m_curves.push_back(std::move(curve));
    }
    // In the order of the modes, whichever run has its first steps first: the thick line of the control lies
    // below.
    for (const std::unique_ptr<Curve>& curve : m_curves) {
        curve->raw.push_back(newSeries(*curve, false));
    }
    refresh();
}

void RunChart::setRepetitions(std::vector<const RunSeries*> repetitions) {
    if (repetitions != m_band.repetitions()) {
        m_band.reset(m_options, std::move(repetitions));
        refresh();
    }
}

void RunChart::setOptions(const PlotOptions& options) {
    if (options == m_options) {
        return;
    }
    m_options = options;
    for (const std::unique_ptr<Curve>& curve : m_curves) {
        curve->column.reset(m_options);
    }
    m_band.reset(m_options, m_band.repetitions());
    applyPens();
    refresh();
}

void RunChart::setHasLedger(bool hasLedger) {
    m_hasLedger = hasLedger;
    refresh();
}

void RunChart::setCompact(bool compact) {
    m_isCompact = compact;
    refresh();
}

void RunChart::setEmptyText(const QString& text) {
    m_emptyText = text;
    refresh();
}

void RunChart::refresh() {
    if (!isVisible()) {
        m_isStale = true;  // hidden: done when shown
        return;
    }
    m_isStale = false;
    updateColumns();
    layOut();
    updateLines();
    updateAxes();
    updateBand();
    updateLanes();
    updateDots();
    updateNotes();
    updateCursor();
    viewport()->update();
}

void RunChart::updateColumns() {
    const RunSeries* control = controlOf(m_runs);
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        m_curves[i]->column.update(*m_runs[i].series, control);
    }
    m_band.update(control);
}

void RunChart::updateLines() {
    m_scene.x = m_range.visible();
    m_xAxis->setRange(m_scene.x.from, m_scene.x.to);
    const int columns = std::max(1, static_cast<int>(m_scene.plot.width()));
    m_drawnPoints = 0;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        Curve& curve = *m_curves[i];
        const std::vector<double>& x = m_runs[i].series->x(m_options.x);
        const Polyline raw = makePolyline(x, curve.column.raw(), m_scene.x, columns);
        setPieces(curve, false, raw);
        Polyline smooth;
        if (m_options.smoothingSteps > 0) {
            smooth = makePolyline(x, curve.column.smooth(), m_scene.x, columns);
        }
        setPieces(curve, true, smooth);
        curve.isEmpty = raw.isEmpty;
        curve.lowest = raw.lowest;
        curve.highest = raw.highest;
        m_drawnPoints += raw.points() + smooth.points();
    }
    m_bandPieces = m_band.pieces(m_scene.x, columns);
}

void RunChart::setPieces(Curve& curve, bool isSmooth, const Polyline& line) {
    std::vector<QLineSeries*>& pool = isSmooth ? curve.smooth : curve.raw;
    if (pool.size() < line.pieces.size()) {
        const std::size_t wanted =
            std::max(line.pieces.size(), 2 * pool.size());  // so that raising stays rare
        while (pool.size() < wanted) {
            pool.push_back(newSeries(curve, isSmooth));
        }
        raiseAbove(curve, isSmooth);
    }
    for (std::size_t i = 0; i < pool.size(); ++i) {
        if (i < line.pieces.size()) {
            pool[i]->replace(line.pieces[i]);
        } else if (pool[i]->count() > 0) {
            pool[i]->replace(QList<QPointF>());
        }
    }
}

/// Lines of runs that agree lie on each other: the earlier ones are wider, so that their edges still show.
QPen RunChart::penOf(const Curve& curve, bool isSmooth) const {
    QColor colour = m_theme.modeColour(curve.mode);
    const bool isPale = !isSmooth && m_options.smoothingSteps > 0;
    if (isPale) {
        colour.setAlphaF(0.3F);  // the raw line stays, behind the smooth one
    }
    // Solid on purpose: a dashed pen costs fifty times as much on a long line.
    const double layer = static_cast<double>(m_runs.size()) - 1 - static_cast<double>(curve.position);
    QPen pen(colour, isPale ? 1.0 : (isSmooth ? 1.8 : 1.3) + (m_isCompact ? 0.4 : 0.7) * layer);
    pen.setJoinStyle(Qt::RoundJoin);
    return pen;
}

QLineSeries* RunChart::newSeries(const Curve& curve, bool isSmooth) {
    auto* series = new QLineSeries(chart());
    addOnTop(series);
    series->setPen(penOf(curve, isSmooth));
    return series;
}

void RunChart::addOnTop(QLineSeries* series) {
    chart()->addSeries(series);
    series->attachAxis(m_xAxis);
    series->attachAxis(m_yAxis);
}

/// A new series lies on top of all; what belongs above it goes there again. Qt Charts knows no other order
/// than that of adding.
void RunChart::raiseAbove(const Curve& below, bool isSmooth) {
    for (const bool smooth : {false, true}) {
        for (const std::unique_ptr<Curve>& curve : m_curves) {
            const bool isAbove = smooth == isSmooth ? curve->position > below.position : smooth;
            if (!isAbove) {
                continue;
            }
            for (QLineSeries* series : smooth ? curve->smooth : curve->raw) {
                chart()->removeSeries(series);
                addOnTop(series);
            }
        }
    }
}

void RunChart::applyPens() {
    for (const std::unique_ptr<Curve>& curve : m_curves) {
        for (const bool isSmooth : {false, true}) {
            for (QLineSeries* series : isSmooth ? curve->smooth : curve->raw) {
                series->setPen(penOf(*curve, isSmooth));
            }
        }
    }
}

void RunChart::updateAxes() {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const std::unique_ptr<Curve>& curve : m_curves) {
        if (!curve->isEmpty) {
            low = std::min(low, curve->lowest);
            high = std::max(high, curve->highest);
        }
    }
    for (const std::vector<SpreadPoint>& piece : m_bandPieces) {
        for (const SpreadPoint& point : piece) {
            low = std::min(low, point.low);
            high = std::max(high, point.high);
        }
    }
    const bool isEmpty = !(low <= high);
    const ValueScale scale = effectiveScale(m_options);
    if (isEmpty) {
        low = 0, high = 1;
    }
    if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)) || high == low) {
        const double around = scale == ValueScale::Linear ? std::max(std::abs(high) * 0.1, 1e-12) : 0.7;
        low -= around, high += around;
    }
    const double padding = (high - low) * (m_isCompact ? 0.12 : 0.05);
    m_scene.yFrom = low - padding;
    m_scene.yTo = high + padding;
    m_yAxis->setRange(m_scene.yFrom, m_scene.yTo);
    const double lineHeight = fontMetrics().height();
    const int most = std::max(2, static_cast<int>(m_scene.plot.height() / (lineHeight * (m_isCompact ? 1.3 : 2.6))));
    m_scene.yTicks = isEmpty ? std::vector<AxisTick>()
                             : axisTicks(m_scene.yFrom, m_scene.yTo, m_isCompact ? std::min(most, 4) : most, scale,
                                         m_options.quantity, m_options.view);
    const bool hasX = longest() || m_range.whole().width() > 4;
    m_scene.xTicks = !hasX ? std::vector<AxisTick>() : xTicks(m_scene.x.from, m_scene.x.to, std::max(2, static_cast<int>(m_scene.plot.width() / 90)),
                            m_options.x);
    dropCrowdedTicks(m_scene);
    m_scene.emptyText = isEmpty ? m_emptyText : QString();
}

QSize RunChart::sizeHint() const { return {320, 120}; }

QSize RunChart::minimumSizeHint() const { return {120, 40}; }

void RunChart::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    refresh();
}

void RunChart::showEvent(QShowEvent* event) {
    QChartView::showEvent(event);
    if (m_isStale) {
        refresh();
    }
}

void RunChart::changeEvent(QEvent* event) {
    QChartView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        refresh();
    }
}

}  // namespace mantissa::ui
