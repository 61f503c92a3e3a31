// RunChart: what is painted beside the lines, computed into the scene.
#include <algorithm>
#include <cmath>

#include "ui/charts/run_chart.h"
#include "ui/charts/run_chart_curve.h"

namespace mantissa::ui {
namespace {

constexpr double laneHeight = 12;
constexpr double lanePitch = 17;
constexpr int joinMarksWithin = 14;  // pixels: closer diamonds would lie on each other

bool isStopped(const StateRow* state) {
    return state && is_end_state(state->state) && state->state != RunState::Finished;
}

const StepMark* markAt(const RunSeries& series, std::size_t index) {
    const auto found = std::lower_bound(series.marks().begin(), series.marks().end(), index,
                                        [](const StepMark& mark, std::size_t i) { return mark.index < i; });
    return found != series.marks().end() && found->index == index ? &*found : nullptr;
}

const EvaluationRow* sameEvaluation(const std::vector<EvaluationRow>& rows, const EvaluationRow& like) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const EvaluationRow& row) {
        return row.step == like.step && row.metric == like.metric && row.split == like.split;
    });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace

void RunChart::layOut() {
    m_scene.view = QRectF(viewport()->rect());
    const double line = fontMetrics().height();
    const double left = fontMetrics().horizontalAdvance(QStringLiteral("65,504.0")) + 8;
    const double right = m_isCompact ? 10 : 14;
    const double lanes = m_hasLedger && !m_runs.empty() ? lanePitch * static_cast<double>(m_runs.size()) : 0;
    m_scene.hasXLabels = !m_isCompact;
    m_scene.isCompact = m_isCompact;
    const double below = lanes + (lanes > 0 ? 6 : 0) + (m_scene.hasXLabels ? line + 8 : 6);
    m_scene.plot = QRectF(left, 4, std::max(10.0, m_scene.view.width() - left - right),
                          std::max(10.0, m_scene.view.height() - 4 - below));
    m_scene.ledger = lanes > 0 ? QRectF(left, m_scene.plot.bottom() + 6, m_scene.plot.width(), lanes) : QRectF();
    if (chart()->plotArea() != m_scene.plot) {
        chart()->setPlotArea(m_scene.plot);
    }
}

void RunChart::updateLanes() {
    m_scene.lanes.clear();
    m_scene.marks.clear();
    const int columns = std::max(1, static_cast<int>(m_scene.plot.width()));
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const ChartRun& run = m_runs[i];
        LedgerLane ledger = ledgerLane(*run.series, m_options.x, m_scene.x, columns);
        for (const MarkCluster& cluster : markClusters(ledger, joinMarksWithin)) {
            const double pixel = m_scene.plot.width() / columns;
            m_scene.marks.push_back({m_scene.plot.left() + (cluster.firstColumn + 0.5) * pixel,
                                     (cluster.lastColumn - cluster.firstColumn) * pixel,
                                     m_isCompact ? QString() : markLabel(cluster, run.mode), cluster.steps,
                                     m_isCompact ? 0 : static_cast<int>(i)});
        }
        if (!m_hasLedger) {
            continue;
        }
        SceneLane lane;
        // The column of names is narrow: an arrow for "before".
        lane.name = (run.isBefore ? QStringLiteral("← ") : QString()) + QString::fromLatin1(to_string(run.mode));
        lane.colour = m_theme.modeColour(run.mode);
        const double top = m_scene.ledger.top() + lanePitch * static_cast<double>(i) + (lanePitch - laneHeight) / 2;
        const double from = ledger.isEmpty ? m_scene.plot.left() : m_scene.toPixelX(ledger.from);
        const double to = ledger.isEmpty ? from : std::max(from + 1, m_scene.toPixelX(ledger.to));
        lane.area = QRectF(from, top, to - from, laneHeight);
        lane.cells = std::move(ledger.cells);
        lane.text = laneText(run);
        // Only where the end itself is in view: a square in the middle of a zoom would be a lie.
        lane.isStopped = isStopped(run.state) && !ledger.isEmpty && ledger.to >= run.series->x(m_options.x).back();
        m_scene.lanes.push_back(std::move(lane));
    }
}

QString RunChart::markLabel(const MarkCluster& cluster, Precision mode) const {
    const QString name = QString::fromLatin1(to_string(mode));
    if (cluster.steps > 1) {
        return tr("steps %1–%2 · %3 · %4 not finite")
            .arg(cluster.firstStep)
            .arg(cluster.lastStep)
            .arg(name)
            .arg(cluster.steps);
    }
    const QString kind = cluster.firstLossIsFinite ? tr("gradient") : (cluster.firstIsNan ? tr("NaN") : tr("Inf"));
    return tr("step %1 · %2 · %3").arg(cluster.firstStep).arg(name, kind);
}

QString RunChart::laneText(const ChartRun& run) const {
    const std::int64_t probing = run.series->skipped(SkipKind::Probing);
    const std::int64_t faults = run.series->skipped(SkipKind::Fault);
    const std::int64_t nonfinite = run.series->count(StepFate::Nonfinite);
    if (probing + faults + nonfinite == 0) {
        return {};
    }
    if (probing + faults == 0) {
        return tr("no skips · %1 not finite").arg(nonfinite);
    }
    if (faults == 0) {
        const QString skips = probing == 1 ? tr("1 skip: probing ✓ · 0 faults") : tr("%1 skips: probing ✓ · 0 faults").arg(probing);
        return nonfinite == 0 ? skips : tr("%1 · %2 not finite").arg(skips).arg(nonfinite);
    }
    return tr("skips: %1 probing · %2 fault · %3 not finite").arg(probing).arg(faults).arg(nonfinite);
}

void RunChart::updateBand() {
    m_scene.band.reset();
    if (m_bandPieces.empty()) {
        return;
    }
    SceneBand band{{}, m_theme.modeColour(Precision::No), tr("lowest to highest of %n repetition(s) of no", nullptr, static_cast<int>(m_band.started()))};
    for (const std::vector<SpreadPoint>& piece : m_bandPieces) {
        QPolygonF area;
        // A lone step gets the width of a dot, as in the lines.
        const double half = piece.size() == 1 ? 0.75 : 0;
        for (const SpreadPoint& point : piece) {
            area << QPointF(m_scene.toPixelX(point.x) - half, m_scene.toPixelY(point.high));
        }
        for (auto point = piece.rbegin(); point != piece.rend(); ++point) {
            area << QPointF(m_scene.toPixelX(point->x) + half, m_scene.toPixelY(point->low));
        }
        if (half > 0) {
            area.insert(1, QPointF(area.last().x(), area.first().y()));
            area << QPointF(area.first().x(), area.last().y());
        }
        band.areas.push_back(std::move(area));
    }
    m_scene.band = std::move(band);
}

void RunChart::updateNotes() {
    m_scene.notes.clear();
    for (const ChartRun& run : m_runs) {
        for (std::size_t i = 0; run.notes != nullptr && i < run.notes->size(); ++i) {
            const ChartNote& note = (*run.notes)[i];
            const auto index = run.series->indexOfStep(note.step);
            const double x = m_options.x == XKind::Step || !index ? static_cast<double>(note.step) : run.series->x(m_options.x)[*index];
            const double pixel = m_scene.toPixelX(x);
            const bool isPlaced = m_options.x == XKind::Step || index.has_value();
            if (isPlaced && pixel >= m_scene.plot.left() - 1 && pixel <= m_scene.plot.right() + 1) {
                m_scene.notes.push_back({pixel, note.isError, note.text});
            }
        }
    }
}

QString RunChart::noteAt(const QPointF& at) const {
    QStringList texts;
    for (const SceneNote& note : m_scene.notes) {
        if (std::abs(note.x - at.x()) <= 6) {
            texts << note.text;
        }
    }
    return texts.join(QLatin1Char('\n'));
}

void RunChart::updateDots() {
    m_scene.dots.clear();
    if (m_options.quantity != Quantity::Loss || m_isCompact) {
        return;
    }
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (!m_runs[i].evaluations) {
            continue;
        }
        const std::vector<EvaluationRow>& rows = *m_runs[i].evaluations;
        const bool hasLoss = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.metric == "loss"; });
        for (const EvaluationRow& row : rows) {
            if (row.split != "validation" || (hasLoss && row.metric != "loss")) {
                continue;
            }
            const RunSeries& series = *m_runs[i].series;
            const std::optional<std::size_t> index = series.indexOfStep(row.step - 1);
            const std::optional<double> y = dotY(i, row, hasLoss);
            if (!index || !y) {
                continue;
            }
            const double x = m_options.x == XKind::Step ? static_cast<double>(row.step) : series.x(m_options.x)[*index];
            const QPointF at(m_scene.toPixelX(x), m_scene.toPixelY(*y));
            if (m_scene.plot.adjusted(-1, -1, 1, 1).contains(at)) {
                // As the lines: dots on each other are rings around each other.
                const double crowd = rows.size() > 40 ? 0.6 : 1.0;
                const double radius = crowd * (3.5 + 1.6 * static_cast<double>(m_runs.size() - 1 - i));
                m_scene.dots.push_back({at, m_theme.modeColour(m_runs[i].mode), radius});
            }
        }
    }
}

/// The validation loss where it was measured; else a dot on the run's own line, which says "evaluated here" (value: cursor, strip).
std::optional<double> RunChart::dotY(std::size_t run, const EvaluationRow& row, bool hasLoss) const {
    double y = std::numeric_limits<double>::quiet_NaN();
    if (!hasLoss) {
        const std::optional<std::size_t> index = m_runs[run].series->indexOfStep(row.step - 1);
        const std::vector<double>& line = m_options.smoothingSteps > 0 ? m_curves[run]->column.smooth()
                                                                       : m_curves[run]->column.raw();
        if (index && *index < line.size()) {
            y = line[*index];
        }
    } else if (m_options.view == ValueView::Absolute) {
        y = toScale(row.value, effectiveScale(m_options));
    } else {
        for (const ChartRun& other : m_runs) {
            const bool isControl = other.mode == Precision::No && other.evaluations;
            if (const EvaluationRow* control = isControl ? sameEvaluation(*other.evaluations, row) : nullptr) {
                const double value = m_options.view == ValueView::DifferenceToControl ? row.value - control->value
                                                                                      : row.value / control->value;
                y = toScale(value, effectiveScale(m_options));
            }
        }
    }
    return std::isfinite(y) ? std::optional(y) : std::nullopt;
}

void RunChart::updateCursor() {
    m_scene.cursorX.reset();
    m_scene.cursorLines.clear();
    if (!m_range.cursor()) {
        return;
    }
    const double x = *m_range.cursor();
    const double pixel = m_scene.toPixelX(x);
    if (pixel < m_scene.plot.left() - 1 || pixel > m_scene.plot.right() + 1) {
        return;
    }
    m_scene.cursorX = pixel;
    m_scene.cursorTitle.clear();
    if (m_isCompact && !underMouse() && !hasFocus()) {
        return;  // a small chart has room for the line; its values when it is the one looked at
    }
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const std::vector<double>& xs = m_runs[i].series->x(m_options.x);
        // The last of equal ones: of several attempts at one applied step it is the one that was applied.
        const auto after = std::upper_bound(xs.begin(), xs.end(), x + 1e-9);
        // What isn't measured at every step holds until the next record.
        const bool isSparse = m_options.quantity == Quantity::Headroom;
        const double reach = isSparse ? m_scene.x.width() : (m_options.x == XKind::Time ? m_scene.x.width() / 100 : 0.5);
        if (after != xs.begin() && x - *(after - 1) <= reach) {
            addCursorLine(i, static_cast<std::size_t>(after - xs.begin()) - 1);
        }
    }
    addSpreadLine(x);
}

void RunChart::addCursorLine(std::size_t run, std::size_t index) {
    const RunSeries& series = *m_runs[run].series;
    if (m_scene.cursorTitle.isEmpty()) {
        m_scene.cursorTitle = m_options.x == XKind::Time
                                  ? tr("%1 s").arg(*m_range.cursor(), 0, 'f', 2)
                                  : (m_options.x == XKind::Step ? tr("step %1").arg(series.steps()[index])
                                                                : tr("applied step %1").arg(std::llround(*m_range.cursor())));
    }
    const double raw = series.column(m_options.quantity)[index];
    const std::vector<double>& drawn = m_curves[run]->column.raw();
    double value = raw;
    if (std::isfinite(raw) && m_options.view != ValueView::Absolute) {
        value = index < drawn.size() ? fromScale(drawn[index], effectiveScale(m_options))
                                     : std::numeric_limits<double>::quiet_NaN();
    }
    const bool canBeNan = m_options.quantity == Quantity::Loss || m_options.quantity == Quantity::GradientNorm;
    const bool isMissing = std::isnan(value) && (std::isfinite(raw) || !canBeNan);
    QString text = isMissing ? QStringLiteral("–") : valueText(value, m_options.quantity, m_options.view);
    const StepMark* mark = markAt(series, index);
    if (mark && (std::isfinite(raw) || mark->fate != StepFate::Nonfinite)) {
        text += QStringLiteral(" · ") + fateText(mark);
    }
    m_scene.cursorLines.push_back({nameOf(m_runs[run]), text,
                                   m_theme.modeColour(m_runs[run].mode), mark && mark->fate == StepFate::Nonfinite});
}

/// "3 repetitions  0.31 – 0.35", at the step of the control that the cursor stands on.
void RunChart::addSpreadLine(double x) {
    const RunSeries* control = controlOf(m_runs);
    if (m_bandPieces.empty() || control == nullptr) {
        return;
    }
    const std::vector<double>& xs = control->x(m_options.x);
    const auto after = std::upper_bound(xs.begin(), xs.end(), x + 1e-9);
    const double reach = m_options.x == XKind::Time ? m_scene.x.width() / 100 : 0.5;
    if (after == xs.begin() || x - *(after - 1) > reach) {
        return;
    }
    const auto index = static_cast<std::size_t>(after - xs.begin()) - 1;
    std::optional<SpreadReading> spread = spreadAt(m_band.repetitions(), control->steps()[index], m_options.quantity);
    if (!spread) {
        return;
    }
    const double own = control->column(m_options.quantity)[index];
    for (double* value : {&spread->low, &spread->high}) {
        *value = m_options.view == ValueView::Absolute ? *value : (m_options.view == ValueView::DifferenceToControl ? *value - own : *value / own);
    }
    m_scene.cursorLines.push_back({tr("%n repetition(s)", nullptr, static_cast<int>(spread->runs)),
                                   QStringLiteral("%1 – %2").arg(valueText(spread->low, m_options.quantity, m_options.view),
                                                                 valueText(spread->high, m_options.quantity, m_options.view)),
                                   m_theme.colours().muted, false});
}

QString RunChart::fateText(const StepMark* mark) const {
    switch (mark->fate) {
        case StepFate::Applied: return {};
        case StepFate::SkipProbing: return tr("skipped, probing");
        case StepFate::SkipFault: return tr("skipped, fault");
        case StepFate::Nonfinite: return mark->lossIsFinite ? tr("gradients not finite") : tr("loss not finite");
    }
    return {};
}

}  // namespace mantissa::ui
