#include "ui/live/live_charts.h"

#include <QHBoxLayout>
#include <algorithm>

#include "base/numbers.h"
#include "ui/bridge/comparison_follower.h"
#include "ui/charts/axis_ticks.h"
#include "ui/charts/chart_card.h"
#include "ui/live/fold_row.h"

namespace mantissa::ui {
namespace {

constexpr int smallMinimumHeight = 70;
constexpr int smallMaximumHeight = 120;
constexpr int foldedHeight = 170;

// By its outputs: those of fp8 layers are bfloat16.
bool reachesAsFarAsFp32(Precision mode) { return mode == Precision::Bf16 || mode == Precision::Fp8; }

}  // namespace

LiveCharts::LiveCharts(Theme& theme, StepRange& range, QWidget* parent) : QObject(parent), m_theme(theme), m_range(range), m_row(new QWidget(parent)) {
    m_scale = addChart(tr("Loss scale"), Quantity::LossScale, ValueScale::Log2, "scaleCard", false);
    m_headroom = addChart(tr("Headroom, worst tensor"), Quantity::Headroom, ValueScale::Linear, "headroomCard", false);
    m_norm = addChart(tr("Gradient norm"), Quantity::GradientNorm, ValueScale::Log10, "normCard", false);
    m_memory = addChart(tr("Memory of tensors"), Quantity::MemoryPeak, ValueScale::Linear, "memoryCard", false);
    m_foldedNorm = addChart(tr("Gradient norm"), Quantity::GradientNorm, ValueScale::Log10, "foldedNormCard", true);
    m_throughput = addChart(tr("Throughput"), Quantity::Throughput, ValueScale::Linear, "throughputCard", true);
    m_stepTime = addChart(tr("Step time"), Quantity::StepTime, ValueScale::Linear, "stepTimeCard", true);
    m_rate = addChart(tr("Learning rate"), Quantity::LearningRate, ValueScale::Linear, "rateCard", true);
    m_memory->setSubtitle(tr("peak, measured"));
    for (ChartCard* card : {m_norm, m_foldedNorm}) {
        card->setSubtitle(tr("unscaled, before clipping"));
    }
    m_headroom->hide();
    auto* layout = new QHBoxLayout(m_row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    for (ChartCard* card : {m_scale, m_headroom, m_norm, m_memory}) {
        layout->addWidget(card, 1);
    }
}

ChartCard* LiveCharts::addChart(const QString& title, Quantity quantity, ValueScale scale, const char* name, bool isFolded) {
    auto* card = new ChartCard(m_theme, m_range, title, m_row);
    card->setObjectName(QLatin1String(name));
    PlotOptions options;
    options.quantity = quantity;
    options.scale = scale;
    card->setOptions(options);
    card->chart().setCompact(!isFolded);
    card->chart().setEmptyText(tr("No value yet."));
    if (isFolded) {
        card->setFixedHeight(foldedHeight);
    } else {
        card->setMinimumHeight(smallMinimumHeight);
        card->setMaximumHeight(smallMaximumHeight);
    }
    connect(card, &ChartCard::failed, this, &LiveCharts::failed);
    m_all.push_back(card);
    return card;
}

void LiveCharts::addFolds(FoldRow& folds) {
    folds.addFold(tr("throughput"), m_throughput);
    folds.addFold(tr("step time"), m_stepTime);
    folds.addFold(tr("learning rate"), m_rate);
    folds.addFold(tr("gradient norm"), m_foldedNorm);
}

void LiveCharts::setRuns(const std::vector<ChartRun>& runs, const ComparisonFollower* follower) {
    std::vector<ChartRun> headroom;
    for (std::size_t i = 0; follower != nullptr && i < follower->runs().size(); ++i) {
        const RunFollower& run = *follower->runs()[i];
        // A line a hundred bits higher would only press the others flat.
        if (!reachesAsFarAsFp32(run.mode())) {
            headroom.push_back({run.mode(), &run.headroom().series(), nullptr, &run.state()});
        }
    }
    std::vector<ChartRun> plain = runs;
    for (ChartRun& run : plain) {
        run.notes = nullptr;  // the same marks on every small chart would say nothing more
    }
    for (ChartCard* card : m_all) {
        card->setRuns(card == m_headroom ? headroom : plain);
    }
}

void LiveCharts::setXKind(XKind kind) {
    for (ChartCard* card : m_all) {
        PlotOptions options = card->chart().options();
        options.x = kind;
        card->setOptions(options);
    }
}

void LiveCharts::refresh(const ComparisonFollower& follower) {
    const auto& runs = follower.runs();
    const bool hasScale = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run->series().hasLossScale(); });
    const bool hasSteps = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run->series().isEmpty(); });
    const bool hasHeadroom = std::any_of(runs.begin(), runs.end(), [](const auto& run) {
        return !reachesAsFarAsFp32(run->mode()) && run->headroom().series().size() > 1;
    });
    m_scale->setVisible(hasScale || !hasSteps);  // without fp16 there is no scale, and no empty box for it
    m_headroom->setVisible(hasHeadroom);
    m_norm->setVisible(!hasHeadroom);
    for (ChartCard* card : m_all) {
        card->refresh();
    }
    refreshSubtitles(follower);
}

void LiveCharts::refreshSubtitles(const ComparisonFollower& follower) {
    QStringList scales, bits;
    for (const auto& run : follower.runs()) {
        const QString mode = QString::fromLatin1(to_string(run->mode()));
        const auto& scale = run->series().column(Quantity::LossScale);
        if (run->series().hasLossScale()) {
            scales << tr("%1 · now %2").arg(mode, QString::fromStdString(readable_scale(scale.back())));
        }
        const HeadroomSeries& headroom = run->headroom();
        if (!headroom.series().isEmpty() && !reachesAsFarAsFp32(run->mode())) {
            const QString left = valueText(headroom.series().column(Quantity::Headroom).back(), Quantity::Headroom, ValueView::Absolute);
            const QString ruler = run->mode() == Precision::No ? tr("%1, by fp16's end").arg(mode) : mode;
            bits << QStringLiteral("%1 %2 · %3").arg(ruler, left, QString::fromStdString(headroom.worstTensor()));
        }
    }
    m_scale->setSubtitle(scales.join(QStringLiteral(", ")));
    // The mode that is nearest to its end comes last in the list of modes and first in interest.
    std::reverse(bits.begin(), bits.end());
    m_headroom->setSubtitle(bits.join(QStringLiteral(", ")));
}

}  // namespace mantissa::ui
