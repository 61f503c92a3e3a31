// What a chart computes before it paints: columns against the control, decimated lines, ledger, ticks, zoom.
#include <QAction>
#include <QSignalSpy>
#include <QtTest>
#include <cmath>
#include <limits>
#include <numeric>

#include "fixture_runs.h"
#include "ui/charts/axis_ticks.h"
#include "ui/charts/ledger.h"
#include "ui/charts/plot_column.h"
#include "ui/charts/polyline.h"
#include "ui/charts/step_range.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

RunSeries seriesOf(const std::vector<double>& losses, std::int64_t first = 0) {
    RunSeries series;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        StepRow row;
        row.step = first + static_cast<std::int64_t>(i);
        row.applied_step = row.step + 1;
        row.loss = losses[i];
        row.nonfinite_loss = !std::isfinite(row.loss);
        row.time_ns = row.step * 1'000'000;
        series.append(std::span(&row, 1));
    }
    return series;
}

PlotColumn columnOf(const RunSeries& run, const RunSeries* control, const PlotOptions& options) {
    PlotColumn column;
    column.reset(options);
    column.update(run, control);
    return column;
}

QStringList textsOf(const std::vector<AxisTick>& ticks) {
    QStringList texts;
    for (const AxisTick& tick : ticks) {
        texts << tick.text;
    }
    return texts;
}

}  // namespace

class TestChartValues : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void logDropsWhatItCannotShow();
    void differenceWaitsForTheControl();
    void ratioNeedsTheSameStep();
    void smoothingLeavesTheRawLine();
    void lineKeepsExtremesAndItsBound();
    void lineIsSplitAtGaps();
    void loneStepIsStillDrawn();
    void manyGapsStayFewPieces();
    void ledgerLosesNoStep_data();
    void ledgerLosesNoStep();
    void clustersCountEverything();
    void ticks_data();
    void ticks();
    void rangeKeepsItsZoomWhileDataGrows();
    void rangeFollowsTheEnd();
    void rangeActionsWork();
};

void TestChartValues::logDropsWhatItCannotShow() {
    PlotOptions options;
    options.scale = ValueScale::Log10;
    const RunSeries run = seriesOf({100, 0, -1, notANumber, std::numeric_limits<double>::infinity(), 0.01});
    const std::vector<double> y = columnOf(run, nullptr, options).raw();
    QCOMPARE(y.size(), std::size_t{6});
    QCOMPARE(y[0], 2.0);
    for (const std::size_t i : {1, 2, 3, 4}) {
        QVERIFY2(std::isnan(y[i]), qPrintable(QString::number(i)));
    }
    QCOMPARE(y[5], -2.0);
}

void TestChartValues::differenceWaitsForTheControl() {
    PlotOptions options;
    options.view = ValueView::DifferenceToControl;
    options.scale = ValueScale::Log10;  // overruled: a difference has two signs
    const RunSeries run = seriesOf({5, 6, 7, 8});
    RunSeries control = seriesOf({1, 2});
    PlotColumn column = columnOf(run, &control, options);
    QCOMPARE(column.raw(), (std::vector<double>{4, 4}));
    StepRow row;
    row.step = 2;
    row.loss = 10;
    control.append(std::span(&row, 1));
    column.update(run, &control);
    QCOMPARE(column.raw(), (std::vector<double>{4, 4, -3}));
}

void TestChartValues::ratioNeedsTheSameStep() {
    PlotOptions options;
    options.view = ValueView::RatioToControl;
    const RunSeries run = seriesOf({3, 8, 2}, 1);        // steps 1, 2, 3
    const RunSeries control = seriesOf({1, 2, 4, notANumber});  // steps 0 to 3
    const std::vector<double> y = columnOf(run, &control, options).raw();
    QCOMPARE(y[0], 1.5);
    QCOMPARE(y[1], 2.0);
    QVERIFY(std::isnan(y[2]));
}

void TestChartValues::smoothingLeavesTheRawLine() {
    PlotOptions options;
    options.smoothingSteps = 3;  // weight 1/2
    const PlotColumn column = columnOf(seriesOf({4, 8, notANumber, 8}), nullptr, options);
    QCOMPARE(column.raw()[1], 8.0);
    QCOMPARE(column.smooth()[0], 4.0);
    QCOMPARE(column.smooth()[1], 6.0);
    QVERIFY(std::isnan(column.smooth()[2]));
    QCOMPARE(column.smooth()[3], 7.0);  // the bad step neither counts nor poisons
}

void TestChartValues::lineKeepsExtremesAndItsBound() {
    std::vector<double> x(1'000'000), y(x.size(), 1.0);
    std::iota(x.begin(), x.end(), 0.0);
    y[123'457] = 50;
    y[777'777] = -50;
    const Polyline line = makePolyline(x, y, {0, 1e6}, 4000);
    QVERIFY(line.points() <= mostPointsPerLine);
    QCOMPARE(line.highest, 50.0);
    QCOMPARE(line.lowest, -50.0);
    bool hasHigh = false, hasLow = false;
    for (const QPointF& point : line.pieces.front()) {
        hasHigh = hasHigh || point.y() == 50;
        hasLow = hasLow || point.y() == -50;
    }
    QVERIFY(hasHigh && hasLow);
}

void TestChartValues::lineIsSplitAtGaps() {
    const std::vector<double> x{0, 1, 2, 3, 4, 5}, y{1, 2, notANumber, 4, 5, 6};
    const Polyline line = makePolyline(x, y, {0, 5}, 500);
    QCOMPARE(line.pieces.size(), std::size_t{2});
    QCOMPARE(line.pieces[0], (QList<QPointF>{{0, 1}, {1, 2}}));
    QCOMPARE(line.pieces[1], (QList<QPointF>{{3, 4}, {4, 5}, {5, 6}}));
    const Polyline zoomed = makePolyline(x, y, {3.4, 4.6}, 500);
    QCOMPARE(zoomed.pieces.size(), std::size_t{1});  // drawn to the edges of the view
    QCOMPARE(zoomed.pieces[0], (QList<QPointF>{{3, 4}, {4, 5}, {5, 6}}));
}

void TestChartValues::loneStepIsStillDrawn() {
    const std::vector<double> x{0, 1, 2, 3, 4}, y{notANumber, notANumber, 7, notANumber, notANumber};
    const Polyline line = makePolyline(x, y, {0, 4}, 400);
    QCOMPARE(line.pieces.size(), std::size_t{1});
    QCOMPARE(line.pieces[0].size(), 2);
    QVERIFY(line.pieces[0][1].x() > line.pieces[0][0].x());
}

void TestChartValues::manyGapsStayFewPieces() {
    std::vector<double> x(1'000), y(x.size(), 1.0);
    std::iota(x.begin(), x.end(), 0.0);
    for (std::size_t i = 0; i < y.size(); i += 3) {
        y[i] = notANumber;  // 333 gaps of two or three pixels
    }
    std::fill(y.begin() + 400, y.begin() + 500, notANumber);  // and a wide one
    const Polyline line = makePolyline(x, y, {0, 999}, 999);
    QVERIFY(line.pieces.size() <= mostPiecesPerLine);
    bool hasWideGap = false;
    for (std::size_t i = 1; i < line.pieces.size(); ++i) {
        hasWideGap = hasWideGap || line.pieces[i].front().x() - line.pieces[i - 1].back().x() > 90;
    }
    QVERIFY(hasWideGap);
}

void TestChartValues::ledgerLosesNoStep_data() {
    QTest::addColumn<int>("columns");
    QTest::addColumn<double>("from");
    QTest::addColumn<double>("to");
    QTest::newRow("everything in one pixel") << 1 << 0.0 << 20'000.0;
    QTest::newRow("whole run") << 1000 << 0.0 << 20'000.0;
    QTest::newRow("zoomed in") << 1000 << 9'990.0 << 10'010.0;
}

void TestChartValues::ledgerLosesNoStep() {
    QFETCH(int, columns);
    QFETCH(double, from);
    QFETCH(double, to);
    std::vector<double> losses(20'000, 1.0);
    for (std::size_t i = 0; i < losses.size(); i += 7) {
        losses[i] = notANumber;
    }
    const RunSeries run = seriesOf(losses);
    std::int64_t expected = 0, drawn = 0;
    for (const StepMark& mark : run.marks()) {
        expected += static_cast<double>(mark.step) >= from && static_cast<double>(mark.step) <= to ? 1 : 0;
    }
    const LedgerLane lane = ledgerLane(run, XKind::Step, {from, to}, columns);
    for (const LedgerCell& cell : lane.cells) {
        QVERIFY(cell.column >= 0 && cell.column < columns);
        QCOMPARE(cell.worst, StepFate::Nonfinite);
        drawn += cell.nonfinite;
    }
    QVERIFY(expected > 0);
    QCOMPARE(drawn, expected);
}

void TestChartValues::clustersCountEverything() {
    std::vector<double> losses(5000, 1.0);
    std::fill(losses.begin() + 100, losses.begin() + 2100, notANumber);
    losses[4000] = std::numeric_limits<double>::infinity();
    const LedgerLane lane = ledgerLane(seriesOf(losses), XKind::Step, {0, 5000}, 1000);
    const std::vector<MarkCluster> clusters = markClusters(lane, 14);
    QCOMPARE(clusters.size(), std::size_t{2});
    QCOMPARE(clusters[0].steps, 2000);
    QCOMPARE(clusters[0].firstStep, 100);
    QCOMPARE(clusters[0].lastStep, 2099);
    QCOMPARE(clusters[1].steps, 1);
    QCOMPARE(clusters[1].firstIsNan, false);
}

void TestChartValues::ticks_data() {
    QTest::addColumn<double>("from");
    QTest::addColumn<double>("to");
    QTest::addColumn<int>("scale");
    QTest::addColumn<int>("quantity");
    QTest::addColumn<QStringList>("texts");
    const int loss = static_cast<int>(Quantity::Loss), memory = static_cast<int>(Quantity::MemoryPeak);
    QTest::newRow("linear") << 0.0 << 1.0 << 0 << loss << QStringList{"0", "0.2", "0.4", "0.6", "0.8", "1"};
    QTest::newRow("decades") << -3.2 << 1.1 << 1 << loss << QStringList{"0.001", "0.01", "0.1", "1", "10"};
    QTest::newRow("within a decade") << 0.0 << 1.0 << 1 << loss << QStringList{"1", "2", "5", "10"};
    QTest::newRow("powers of two") << 13.5 << 16.5 << 2 << static_cast<int>(Quantity::LossScale)
                                   << QStringList{"2^14", "2^15", "2^16"};
    QTest::newRow("bytes") << 9.5e6 << 12.5e6 << 0 << memory << QStringList{"10 MB", "11 MB", "12 MB"};
    QTest::newRow("nothing to show") << 1.0 << 1.0 << 0 << loss << QStringList{};
}

void TestChartValues::ticks() {
    QFETCH(double, from);
    QFETCH(double, to);
    QFETCH(int, scale);
    QFETCH(int, quantity);
    QFETCH(QStringList, texts);
    const auto made = axisTicks(from, to, 6, static_cast<ValueScale>(scale), static_cast<Quantity>(quantity), ValueView::Absolute);
    QCOMPARE(textsOf(made), texts);
    for (const AxisTick& tick : made) {
        QVERIFY(tick.position >= from - 1e-9 && tick.position <= to + 1e-9);
    }
}

void TestChartValues::rangeKeepsItsZoomWhileDataGrows() {
    StepRange range;
    QSignalSpy changed(&range, &StepRange::changed);
    range.setWhole({0, 300}, 100);
    range.zoomTo({20, 60});
    range.zoomTo({30, 40});
    range.setWhole({0, 300}, 200);
    QCOMPARE(range.visible(), (XSpan{30, 40}));
    range.back();
    QCOMPARE(range.visible(), (XSpan{20, 60}));
    range.reset();
    QCOMPARE(range.visible(), (XSpan{0, 300}));
    QCOMPARE(changed.count(), 6);
    range.setWhole({0, 300}, 200);
    QCOMPARE(changed.count(), 6);  // nothing new, nothing said
}

void TestChartValues::rangeFollowsTheEnd() {
    StepRange range;
    range.setWhole({0, 1000}, 500);
    range.setFollowing(true);
    const double width = range.visible().width();
    QCOMPARE(range.visible().to, 500.0);
    range.setWhole({0, 1000}, 700);
    QCOMPARE(range.visible().to, 700.0);
    QCOMPARE(range.visible().width(), width);
}

void TestChartValues::rangeActionsWork() {
    StepRange range;
    range.setWhole({0, 100}, 100);
    range.actions().at(0)->trigger();  // zoom in, around the middle
    QCOMPARE(range.visible(), (XSpan{25, 75}));
    range.actions().at(0)->trigger();
    range.actions().at(3)->trigger();  // back
    QCOMPARE(range.visible(), (XSpan{25, 75}));
    range.actions().at(2)->trigger();  // everything
    QVERIFY(!range.isZoomed());
    QVERIFY(!range.actions().at(2)->isEnabled());
}

QTEST_MAIN(TestChartValues)
#include "test_chart_values.moc"
