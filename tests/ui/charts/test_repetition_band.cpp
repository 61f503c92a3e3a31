// The band that repetitions of the control span: its values, and what chart, cursor, table and CSV make of it.
#include <QAbstractItemModelTester>
#include <QBuffer>
#include <QSignalSpy>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "fixture_runs.h"
#include "ui/charts/chart_export.h"
#include "ui/charts/repetition_band.h"
#include "ui/charts/run_chart.h"
#include "ui/charts/step_range.h"
#include "ui/charts/step_table_model.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

RunSeries seriesOf(const std::vector<double>& losses) {
    RunSeries series;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        StepRow row;
        row.step = static_cast<std::int64_t>(i);
        row.applied_step = row.step + 1;
        row.loss = losses[i];
        row.nonfinite_loss = !std::isfinite(row.loss);
        row.time_ns = row.step * 1'000'000;
        series.append(std::span(&row, 1));
    }
    return series;
}

RepetitionBand bandOf(const std::vector<const RunSeries*>& runs, const RunSeries* control, const PlotOptions& options) {
    RepetitionBand band;
    band.reset(options, runs);
    band.update(control);
    return band;
}

/// The control and fp16, 120 steps.
struct Chart {
    Theme theme;
    StepRange range;
    RunSeries no, fp16;
    RunChart chart{theme, range};

    Chart() {
        for (std::int64_t step = 0; step < 120; ++step) {
            StepRow row = fixture::makeStep(Precision::No, step, 0, {});
            no.append(std::span(&row, 1));
            row = fixture::makeStep(Precision::Fp16, step, 0, {});
            fp16.append(std::span(&row, 1));
        }
        PlotOptions options;
        options.scale = ValueScale::Log10;
        chart.setOptions(options);
        chart.resize(1100, 400);
        chart.show();
        chart.setRuns({{Precision::No, &no, nullptr, nullptr}, {Precision::Fp16, &fp16, nullptr, nullptr}});
        fitRange(range, chart.runs(), XKind::Step, 0);
        chart.refresh();
    }
};

}  // namespace

class TestRepetitionBand : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void bandIsTheLowestAndTheHighestOfEachStep();
    void bandFollowsViewScaleAndSmoothing();
    void bandLiesWhereTheControlWasInTime();
    void bandKeepsItsExtremesAtEveryWidth();
    void repetitionsAreABandWithLegendCursorTableAndCsv();
};

void TestRepetitionBand::bandIsTheLowestAndTheHighestOfEachStep() {
    const RunSeries control = seriesOf({9, 9, 9, 9, 9, 9});
    const RunSeries one = seriesOf({4, 3, 2, 1, 0.5}), two = seriesOf({5, 2, notANumber, 4}), three = seriesOf({3, 6, 7});
    RepetitionBand band = bandOf({&one, &two, &three}, &control, {});
    QCOMPARE(band.started(), std::int64_t{3});
    const auto pieces = band.pieces({0, 10}, 1000);
    QCOMPARE(pieces.size(), std::size_t{1});
    // Step 2: the NaN is left out; step 3: two have it; step 4: one alone spans nothing.
    const std::vector<SpreadPoint> expected{{0, 3, 5}, {1, 2, 6}, {2, 2, 7}, {3, 1, 4}};
    QCOMPARE(pieces[0], expected);
    const auto reading = spreadAt({&one, &two, &three}, 2, Quantity::Loss);
    QCOMPARE(reading->runs, std::int64_t{2});
    QCOMPARE(reading->low, 2.0);
    QCOMPARE(reading->high, 7.0);
    QVERIFY(!spreadAt({&one, &two, &three}, 4, Quantity::Loss));
    // What comes later is taken in, wherever it lies.
    RunSeries late = seriesOf({8});
    band.reset({}, {&one, &late});
    band.update(&control);
    QCOMPARE(band.pieces({0, 10}, 1000)[0], (std::vector<SpreadPoint>{{0, 4, 8}}));
    for (std::int64_t step = 1; step < 5; ++step) {
        StepRow row;
        row.step = step;
        row.loss = 1;
        late.append(std::span(&row, 1));
    }
    band.update(&control);
    QCOMPARE(band.pieces({0, 10}, 1000)[0], (std::vector<SpreadPoint>{{0, 4, 8}, {1, 1, 3}, {2, 1, 2}, {3, 1, 1}, {4, 0.5, 1}}));
}

void TestRepetitionBand::bandFollowsViewScaleAndSmoothing() {
    const RunSeries control = seriesOf({2, 4, 8}), one = seriesOf({1, 8, 16}), two = seriesOf({4, 2, 0});
    PlotOptions options;
    options.scale = ValueScale::Log2;
    QCOMPARE(bandOf({&one, &two}, &control, options).pieces({0, 3}, 300)[0], (std::vector<SpreadPoint>{{0, 0, 2}, {1, 1, 3}}));  // 0 has no logarithm
    options.view = ValueView::DifferenceToControl;
    QCOMPARE(bandOf({&one, &two}, &control, options).pieces({0, 3}, 300)[0], (std::vector<SpreadPoint>{{0, -1, 2}, {1, -2, 4}, {2, -8, 8}}));
    options.view = ValueView::RatioToControl;
    options.scale = ValueScale::Linear;
    QCOMPARE(bandOf({&one, &two}, &control, options).pieces({0, 3}, 300)[0], (std::vector<SpreadPoint>{{0, 0.5, 2}, {1, 0.5, 2}, {2, 0, 2}}));
    options.view = ValueView::Absolute;
    options.smoothingSteps = 3;  // weight 1/2: 1, 4.5, 10.25 and 4, 3, 1.5
    QCOMPARE(bandOf({&one, &two}, &control, options).pieces({0, 3}, 300)[0], (std::vector<SpreadPoint>{{0, 1, 4}, {1, 3, 4.5}, {2, 1.5, 10.25}}));
}

void TestRepetitionBand::bandLiesWhereTheControlWasInTime() {
    const RunSeries control = seriesOf({1, 1}), one = seriesOf({1, 2, 3}), two = seriesOf({2, 3, 4});
    PlotOptions options;
    options.x = XKind::Time;
    const auto pieces = bandOf({&one, &two}, &control, options).pieces({0, 0.002}, 300);
    QCOMPARE(pieces.size(), std::size_t{1});
    QCOMPARE(pieces[0].size(), std::size_t{2});  // the control hasn't made step 2
    QCOMPARE(pieces[0][1].x, control.x(XKind::Time)[1]);
    QCOMPARE(pieces[0][1].high, 3.0);
}

void TestRepetitionBand::bandKeepsItsExtremesAtEveryWidth() {
    std::vector<double> low(10'000, 1.0), high(10'000, 2.0);
    low[4'321] = 0.1;
    high[7'777] = 9;
    const RunSeries one = seriesOf(low), two = seriesOf(high);
    const RepetitionBand band = bandOf({&one, &two}, &one, {});
    for (const int columns : {7, 100, 950}) {
        const auto pieces = band.pieces({0, 10'000}, columns);
        QCOMPARE(pieces.size(), std::size_t{1});
        QVERIFY(pieces[0].size() <= static_cast<std::size_t>(columns) + 2);
        const auto least = std::min_element(pieces[0].begin(), pieces[0].end(), [](const auto& a, const auto& b) { return a.low < b.low; });
        const auto most = std::max_element(pieces[0].begin(), pieces[0].end(), [](const auto& a, const auto& b) { return a.high < b.high; });
        QCOMPARE(least->low, 0.1);
        QCOMPARE(most->high, 9.0);
    }
    const auto zoomed = band.pieces({4'000, 4'100}, 1000);  // a neighbour on each side
    QCOMPARE(zoomed[0].front().x, 3'999.0);
    QCOMPARE(zoomed[0].back().x, 4'101.0);
}

void TestRepetitionBand::repetitionsAreABandWithLegendCursorTableAndCsv() {
    Chart c;
    QVERIFY(!c.chart.scene().band);
    RunSeries repetitions[3];
    for (std::int64_t step = 0; step < 100; ++step) {
        for (int i = 0; i < 3; ++i) {
            StepRow row = fixture::makeStep(Precision::No, step, 0, {});
            row.loss = (i + 1) * 0.25;
            repetitions[i].append(std::span(&row, 1));
        }
    }
    c.chart.setRepetitions({&repetitions[0], &repetitions[1], &repetitions[2]});
    QVERIFY(c.chart.scene().band.has_value());
    QVERIFY(c.chart.scene().band->legend.contains(QStringLiteral("3 repetition")));
    QCOMPARE(c.chart.scene().band->areas.size(), std::size_t{1});
    const QRectF area = c.chart.scene().band->areas[0].boundingRect();
    QVERIFY(std::abs(area.top() - c.chart.scene().toPixelY(std::log10(0.75))) < 0.01);
    QVERIFY(std::abs(area.bottom() - c.chart.scene().toPixelY(std::log10(0.25))) < 0.01);
    QVERIFY(std::abs(area.right() - c.chart.scene().toPixelX(99)) < 0.01);
    c.range.setCursor(40.0);
    QCOMPARE(c.chart.scene().cursorLines.size(), std::size_t{3});
    QVERIFY(c.chart.scene().cursorLines[2].name.startsWith(QStringLiteral("3 repetition")));
    QCOMPARE(c.chart.scene().cursorLines[2].value, QStringLiteral("0.250 – 0.750"));
    c.range.setCursor(110.0);  // they haven't come there
    QCOMPARE(c.chart.scene().cursorLines.size(), std::size_t{2});
    StepTableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns(c.chart.runs());
    model.setRepetitions(c.chart.repetitions());
    QCOMPARE(model.columnCount(), 7);
    QCOMPARE(model.index(40, 5).data(StepTableModel::ValueRole).toDouble(), 0.25);
    QCOMPARE(model.index(40, 6).data(Qt::DisplayRole).toString(), QStringLiteral("0.75"));
    QVERIFY(!model.index(110, 6).data(Qt::DisplayRole).isValid());
    QVERIFY(model.headerData(6, Qt::Horizontal, Qt::DisplayRole).toString().startsWith(QStringLiteral("highest of 3")));
    const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    StepRow row = fixture::makeStep(Precision::No, 100, 0, {});
    repetitions[0].append(std::span(&row, 1));
    model.refresh();
    QCOMPARE(changed.count(), 1);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    writeCsv(c.chart, buffer);
    const QList<QByteArray> lines = buffer.data().split('\n');
    QVERIFY(lines[0].endsWith(",repetitions_lowest_loss,repetitions_highest_loss"));
    QVERIFY(lines[41].endsWith(",0.25,0.75"));
    QVERIFY(lines[111].endsWith(",,"));
    c.chart.setRepetitions({});
    QVERIFY(!c.chart.scene().band);
}

QTEST_MAIN(TestRepetitionBand)
#include "test_repetition_band.moc"
