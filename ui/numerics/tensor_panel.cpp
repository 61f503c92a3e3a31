#include "ui/numerics/tensor_panel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "ui/numerics/heat_scale.h"
#include "ui/numerics/histogram_view.h"
#include "ui/numerics/lens_colours.h"
#include "ui/numerics/lens_gauges.h"
#include "ui/numerics/loss_curve.h"
#include "ui/numerics/numerics_tables.h"
#include "ui/numerics/numerics_words.h"
#include "ui/numerics/twin_card.h"

namespace mantissa::ui {

TensorPanel::TensorPanel(Theme& theme, QWidget* parent)
    : QWidget(parent), m_theme(theme), m_histogram(new HistogramView(theme)), m_gauges(new LensGauges(theme)),
      m_curve(new LossCurve(theme)), m_histogramCard(new TwinCard(m_histogram, "histogramTable", this)),
      m_curveCard(new TwinCard(m_curve, "curveTable", this)), m_note(new QLabel(this)) {
    m_histogram->setObjectName(QStringLiteral("histogram"));
    m_curve->setObjectName(QStringLiteral("lossCurve"));
    m_gauges->setObjectName(QStringLiteral("lensGauges"));
    m_note->setObjectName(QStringLiteral("tensorNote"));
    m_note->setProperty("muted", true);
    m_note->setWordWrap(true);
    m_histogramCard->layout()->addWidget(m_note);
    m_histogramCard->layout()->addWidget(buildSlider());
    m_histogramCard->layout()->addWidget(m_gauges);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(m_histogramCard, 5);
    column->addWidget(m_curveCard, 2);
    connect(m_histogram, &HistogramView::readoutChanged, this, &TensorPanel::refreshScale);
    connect(m_curve, &LossCurve::scalePicked, m_slider, &QSlider::setValue);
    connect(m_slider, &QSlider::valueChanged, this, [this] {
        m_isMoved = true;
        refreshScale();
    });
    connect(m_histogramCard, &TwinCard::tableShown, this, &TensorPanel::fillTables);
    connect(m_curveCard, &TwinCard::tableShown, this, &TensorPanel::fillTables);
    retranslate();
}

QWidget* TensorPanel::buildSlider() {
    auto* row = new QWidget(this);
    m_scaleLabel = new QLabel(row);
    m_scaleValue = new QLabel(row);
    m_slider = new QSlider(Qt::Horizontal, row);
    m_toScaler = new QToolButton(row);
    m_slider->setObjectName(QStringLiteral("lossScaleSlider"));
    m_slider->setRange(lens_lowest_log2_scale, lens_highest_log2_scale);
    m_slider->setPageStep(4);
    m_slider->setValue(0);
    m_scaleLabel->setBuddy(m_slider);
    m_scaleValue->setObjectName(QStringLiteral("lossScaleValue"));
    m_scaleValue->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("2^-24 ")));
    m_toScaler->setObjectName(QStringLiteral("toScaler"));
    m_toScaler->setFocusPolicy(Qt::StrongFocus);
    connect(m_toScaler, &QToolButton::clicked, this, [this] {
        m_isMoved = false;
        refresh();
    });
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addWidget(m_scaleLabel);
    layout->addWidget(m_slider, 1);
    layout->addWidget(m_scaleValue);
    layout->addWidget(m_toScaler);
    return row;
}

void TensorPanel::setPick(std::shared_ptr<const TensorPick> pick) {
    if (pick == m_pick) {
        return;
    }
    const bool isOtherRole = !pick || !m_pick || pick->row.role != m_pick->row.role;
    m_pick = std::move(pick);
    m_isMoved = m_isMoved && !isOtherRole;
    refresh();
}

void TensorPanel::setFormat(NumberFormat format) {
    m_format = format;
    m_histogram->setFormat(format);
    m_gauges->setFormat(format);
    m_curve->setFormat(format);
    refresh();
}

int TensorPanel::log2Scale() const { return m_slider->value(); }

void TensorPanel::setLog2Scale(int log2Scale) { m_slider->setValue(log2Scale); }

void TensorPanel::setEmptyText(const QString& text) { m_histogram->setEmptyText(text); }

void TensorPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retranslate();
    }
}

void TensorPanel::retranslate() {
    m_scaleLabel->setText(tr("&Loss scale"));
    m_slider->setAccessibleName(tr("Loss scale"));
    m_toScaler->setText(tr("as the scaler"));
    m_toScaler->setToolTip(tr("Back to the loss scale that the run's scaler had at this step"));
    m_curveCard->setTitle(tr("Lost over loss scale"));
    refresh();
}

/// What must be known to read the histogram rightly; empty when nothing must.
QString TensorPanel::note() const {
    if (!m_pick) {
        return {};
    }
    if (!m_pick->problem.empty()) {
        return QString::fromStdString(m_pick->problem);
    }
    QStringList parts;
    const TensorStatRow& row = m_pick->row;
    if (row.elements > 0 && row.zero > 0) {
        parts << tr("%1 of it is exactly 0 and in no bar.").arg(shareText(static_cast<double>(row.zero) / static_cast<double>(row.elements)));
    }
    if (const auto bad = row.nan + row.pos_inf + row.neg_inf; bad > 0) {
        parts << tr("%1 NaN, %2 +Inf and %3 −Inf.").arg(row.nan).arg(row.pos_inf).arg(row.neg_inf);
    }
    if (m_pick->input && m_pick->input->source == m_format) {
        parts << tr("These values already lie in %1, so what it lost is gone: choose the run in fp32 to see it.")
                     .arg(QString::fromLatin1(to_string(m_format)));
    } else if (row.role != TensorRole::Gradient) {
        parts << tr("A loss scale acts on gradients only; it is 1 here.");
    }
    if (m_pick->input && row.role == TensorRole::Gradient) {
        parts << tr("Grey: as recorded; in colour: times the loss scale.");
    }
    return parts.join(QLatin1Char(' '));
}

void TensorPanel::refresh() {
    m_histogramCard->setTitle(m_pick ? QString::fromStdString(m_pick->row.tensor) : tr("Tensor"));
    m_histogram->setHistogram(m_pick && m_pick->input ? exponentShares(m_pick->input->histogram) : ExponentShares{});
    m_note->setText(note());
    m_note->setVisible(!m_note->text().isEmpty());
    const bool isGradient = m_pick && m_pick->row.role == TensorRole::Gradient;
    const std::optional<double> scaler =
        isGradient && m_pick->lossScale ? std::optional(std::log2(*m_pick->lossScale)) : std::nullopt;
    m_curve->setScaler(scaler);
    m_curve->setCurves(m_pick && m_pick->input ? std::optional(m_pick->curves) : std::nullopt);
    m_toScaler->setVisible(scaler.has_value());
    if (!m_isMoved) {
        const QSignalBlocker quiet(m_slider);
        m_slider->setValue(scaler ? static_cast<int>(std::lround(*scaler)) : 0);
    }
    refreshScale();
}

void TensorPanel::refreshScale() {
    const int scale = m_slider->value();
    m_scaleValue->setText(powerText(scale));
    m_histogram->setLog2Scale(scale);
    m_curve->setLog2Scale(scale);
    const auto at = static_cast<std::size_t>(scale - lens_lowest_log2_scale);
    std::optional<std::array<LensReading, 4>> readings;
    if (m_pick && m_pick->input) {
        readings.emplace();
        for (std::size_t i = 0; i < readings->size(); ++i) {
            (*readings)[i] = m_pick->curves[i].points[at].reading;
        }
    }
    m_gauges->setReadings(readings);
    const QString under = m_histogram->readout();
    m_histogramCard->setReadout(under.isEmpty() && m_pick ? pickLine(m_pick->row) : under);
    if (readings) {
        const LensCurve& curve = m_pick->curves[lensIndex(m_format)];
        const double lost = (*readings)[lensIndex(m_format)].lost();
        m_curveCard->setReadout(tr("%1 at %2: %3 · least at %4 … %5")
                                    .arg(QString::fromLatin1(to_string(m_format)), powerText(scale), shareText(lost), powerText(curve.best_first),
                                         powerText(curve.best_last)));
    } else {
        m_curveCard->setReadout({});
    }
    m_slider->setAccessibleDescription(m_curveCard->readout());
    fillTables();
}

void TensorPanel::fillTables() {
    if (m_histogramCard->isTableShown() || sender() == m_histogramCard) {
        m_histogramCard->model().setTable(histogramTable(m_pick && m_pick->input ? exponentShares(m_pick->input->histogram) : ExponentShares{},
                                                         m_format, m_slider->value()));
    }
    if (m_curveCard->isTableShown() || sender() == m_curveCard) {
        m_curveCard->model().setTable(m_pick && m_pick->input ? curveTable(m_pick->curves) : ValueTable{});
    }
}

}  // namespace mantissa::ui
