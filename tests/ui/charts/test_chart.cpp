// The chart as a widget: what it hands to Qt Charts, marks at every zoom, keys, the table twin, exports.
#include <QAbstractItemModelTester>
#include <QBuffer>
#include <QSignalSpy>
#include <QtCharts/QLineSeries>
#include <QtTest>
#include <cmath>
#include <limits>

#include "fixture_runs.h"
#include "support/temporary_folder.h"
#include "ui/charts/chart_card.h"
#include "ui/charts/chart_export.h"
#include "ui/charts/chart_painter.h"
#include "ui/charts/run_chart.h"
#include "ui/charts/step_range.h"
#include "ui/charts/step_table_model.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

struct Chart {
    Theme theme;
    StepRange range;
    RunSeries no, fp16;
    StateRow stopped{0, RunState::StoppedNonfinite, {}};
    RunChart chart{theme, range};

    explicit Chart(std::int64_t steps, std::int64_t planned = 0) {
        theme.setChoice(Theme::Choice::Light);
        add(steps);
        PlotOptions options;
        options.scale = ValueScale::Log10;
        chart.setOptions(options);
        chart.setHasLedger(true);
        chart.resize(1100, 400);
        chart.show();
        chart.setRuns({{Precision::No, &no, nullptr, nullptr}, {Precision::Fp16, &fp16, nullptr, &stopped}});
        fitRange(range, chart.runs(), XKind::Step, planned);
        chart.refresh();
    }

    void add(std::int64_t upTo) {
        fixture::Options options;
        for (auto step = static_cast<std::int64_t>(no.size()); step < upTo; ++step) {
            StepRow row = fixture::makeStep(Precision::No, step, 0, options);
            no.append(std::span(&row, 1));
            row = fixture::makeStep(Precision::Fp16, step, 0, options);
            fp16.append(std::span(&row, 1));
        }
    }

    [[nodiscard]] std::int64_t markedSteps() const {
        std::int64_t steps = 0;
        for (const SceneMark& mark : chart.scene().marks) {
            steps += mark.steps;
        }
        return steps;
    }
};

}  // namespace

class TestChart : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void handsOverFewPoints();
    void everySeriesIsPositiveOrEmptyOnALogAxis();
    void controlLiesBelowWhicheverRunCameFirst();
    void badStepIsMarkedAtEveryZoom();
    void thousandsOfBadStepsAreCounted();
    void ledgerSharesTheAxis();
    void stoppedRunHasItsSquareOnlyAtItsEnd();
    void keysMoveCursorAndZoom();
    void wheelAndDragZoom();
    void hiddenChartWaits();
    void smoothingKeepsTheRawLine();
    void runsCanBeTakenAway();
    void tableIsAGoodModel();
    void tableGrowsOncePerRefresh();
    void tableHasRawValues();
    void csvIsRawAndComplete();
    void picturesAreWritten();
    void unwritableFileIsASentence();
};

void TestChart::handsOverFewPoints() {
    Chart c(200'000);
    QVERIFY2(c.chart.drawnPoints() <= 2 * mostPointsPerLine, qPrintable(QString::number(c.chart.drawnPoints())));
    for (const QAbstractSeries* series : c.chart.chart()->series()) {
        QVERIFY(qobject_cast<const QLineSeries*>(series)->count() <= mostPointsPerLine);
    }
    c.range.zoomTo({100, 200});
    QVERIFY(c.chart.drawnPoints() >= 200);
    QVERIFY(c.chart.drawnPoints() <= 210);  // the view, and one step on each side
}

void TestChart::everySeriesIsPositiveOrEmptyOnALogAxis() {
    Chart c(100);
    StepRow row = fixture::makeStep(Precision::No, 100, 0, {});
    row.loss = 0;
    c.no.append(std::span(&row, 1));
    row.step = 101;
    row.loss = -3;
    c.no.append(std::span(&row, 1));
    row.step = 102;
    row.loss = 0.5;
    c.no.append(std::span(&row, 1));
    fitRange(c.range, c.chart.runs(), XKind::Step, 0);
    c.chart.refresh();
    double lastX = 0;
    for (const QAbstractSeries* series : c.chart.chart()->series()) {
        for (const QPointF& point : qobject_cast<const QLineSeries*>(series)->points()) {
            QVERIFY(std::isfinite(point.x()) && std::isfinite(point.y()));
            lastX = std::max(lastX, point.x());
        }
    }
    QVERIFY(lastX >= 102);  // the line goes on behind what a logarithm can't show
}

void TestChart::controlLiesBelowWhicheverRunCameFirst() {
    Chart c(0);
    PlotOptions options = c.chart.options();
    options.smoothingSteps = 10;
    c.chart.setOptions(options);
    for (std::int64_t step = 0; step < 120; ++step) {
        StepRow row = fixture::makeStep(Precision::Fp16, step, 0, {});
        c.fp16.append(std::span(&row, 1));
    }
    c.chart.refresh();
    c.add(120);
    for (std::int64_t step = 120; step < 160; ++step) {  // gaps: more pieces than there were
        StepRow row = fixture::makeStep(Precision::No, step, 0, {});
        row.loss = step % 4 == 0 ? std::numeric_limits<double>::quiet_NaN() : row.loss;
        row.nonfinite_loss = step % 4 == 0;
        c.no.append(std::span(&row, 1));
    }
    fitRange(c.range, c.chart.runs(), XKind::Step, 160);
    c.chart.refresh();
    int below = 0;
    for (const QAbstractSeries* series : c.chart.chart()->series()) {
        const QColor colour = qobject_cast<const QLineSeries*>(series)->pen().color();
        const bool isNo = colour.rgb() == c.theme.modeColour(Precision::No).rgb();
        const bool isRaw = colour.alpha() < 255;  // beside a smooth line
        const int order = (isRaw ? 0 : 2) + (isNo ? 0 : 1);
        QVERIFY2(order >= below, qPrintable(QStringLiteral("%1 after %2").arg(order).arg(below)));
        below = order;
    }
    QCOMPARE(below, 3);
}

void TestChart::badStepIsMarkedAtEveryZoom() {
    Chart c(20'000);
    for (const XSpan view : {XSpan{0, 20'000}, XSpan{100, 1'100}, XSpan{140, 148}}) {
        c.range.reset();
        c.range.zoomTo(view);
        QCOMPARE(c.markedSteps(), 1);
        const SceneMark& mark = c.chart.scene().marks.front();
        QVERIFY(mark.label.contains(QStringLiteral("144")) && mark.label.contains(QStringLiteral("NaN")));
        QVERIFY(std::abs(mark.x - c.chart.scene().toPixelX(144)) <= 1.0);
    }
    c.range.reset();
    c.range.zoomTo({200, 300});
    QCOMPARE(c.markedSteps(), 0);  // it lies outside this view
}

void TestChart::thousandsOfBadStepsAreCounted() {
    Chart c(1'000);
    for (std::int64_t step = 1'000; step < 6'000; ++step) {
        StepRow row = fixture::makeStep(Precision::Fp16, step, 0, {});
        row.loss = std::numeric_limits<double>::quiet_NaN();
        row.nonfinite_loss = true;
        c.fp16.append(std::span(&row, 1));
    }
    fitRange(c.range, c.chart.runs(), XKind::Step, 0);
    c.chart.refresh();
    QCOMPARE(c.markedSteps(), 5'001);
    QVERIFY(c.chart.scene().marks.size() <= 3);
    const QImage image = c.chart.grab().toImage();
    int marked = 0;  // and they can be seen
    for (int x = 0; x < image.width(); ++x) {
        for (int y = 0; y < image.height(); y += 4) {
            marked += image.pixelColor(x, y) == c.theme.colours().nonfinite ? 1 : 0;
        }
    }
    QVERIFY(marked > 500);
    const QRectF plot(50, 0, 1000, 300);
    for (const auto& [x, wide] : {std::pair{50.0, 1000.0}, {50.0, 1.0}, {1040.0, 10.0}, {100.0, 900.0}}) {
        SceneMark mark;
        mark.x = x;
        mark.width = wide;
        const double left = ChartPainter::markLabelLeft(plot, mark, 220);  // the count is never cut off
        QVERIFY2(left >= plot.left() && left + 220 <= plot.right(), qPrintable(QString::number(left)));
    }
}

void TestChart::ledgerSharesTheAxis() {
    Chart c(200, 300);
    const ChartScene& scene = c.chart.scene();
    QCOMPARE(scene.lanes.size(), std::size_t{2});
    QCOMPARE(scene.lanes[1].area.left(), scene.toPixelX(0));
    QCOMPARE(scene.lanes[1].area.right(), scene.toPixelX(199));
    QCOMPARE(scene.lanes[1].cells.size(), std::size_t{4});  // skips at 0, 1, 66 and the NaN: 3.5 pixels a step
    QCOMPARE(scene.lanes[0].cells.size(), std::size_t{0});
    QVERIFY(scene.ledger.top() > scene.plot.bottom());
    QCOMPARE(scene.ledger.left(), scene.plot.left());
    QVERIFY(scene.lanes[1].text.contains(QStringLiteral("skips: 3 probing · 1 fault · 1 not finite")));
}

void TestChart::stoppedRunHasItsSquareOnlyAtItsEnd() {
    Chart c(200, 300);
    QVERIFY(c.chart.scene().lanes[1].isStopped);
    QVERIFY(!c.chart.scene().lanes[0].isStopped);
    c.range.zoomTo({50, 100});
    QVERIFY(!c.chart.scene().lanes[1].isStopped);
}

void TestChart::keysMoveCursorAndZoom() {
    Chart c(200);
    c.chart.setFocus();
    QTest::keyClick(&c.chart, Qt::Key_End);
    QCOMPARE(c.range.cursor(), std::optional<double>(199));
    QTest::keyClick(&c.chart, Qt::Key_Left);
    QCOMPARE(c.range.cursor(), std::optional<double>(198));
    QTest::keyClick(&c.chart, Qt::Key_Home);
    QCOMPARE(c.range.cursor(), std::optional<double>(0));
    QTest::keyClick(&c.chart, Qt::Key_Right, Qt::ControlModifier);
    QCOMPARE(c.range.cursor(), std::optional<double>(10));
    QTest::keyClick(&c.chart, Qt::Key_N);
    QCOMPARE(c.range.cursor(), std::optional<double>(66));
    QTest::keyClick(&c.chart, Qt::Key_N);
    QCOMPARE(c.range.cursor(), std::optional<double>(144));
    QCOMPARE(c.chart.scene().cursorLines.size(), std::size_t{2});
    QCOMPARE(c.chart.scene().cursorLines[1].value, QStringLiteral("NaN"));
    QVERIFY(c.chart.scene().cursorLines[1].isBad);
    QTest::keyClick(&c.chart, Qt::Key_Plus);
    QVERIFY(c.range.isZoomed());
    QVERIFY(c.range.visible().from <= 144 && c.range.visible().to >= 144);
    QTest::keyClick(&c.chart, Qt::Key_0);
    QVERIFY(!c.range.isZoomed());
    QSignalSpy picked(&c.chart, &RunChart::stepPicked);
    QTest::keyClick(&c.chart, Qt::Key_Return);
    QCOMPARE(picked.value(0).value(0).toLongLong(), 144);
}

void TestChart::wheelAndDragZoom() {
    Chart c(200);
    const QRectF plot = c.chart.scene().plot;
    const QPoint at(static_cast<int>(plot.left() + plot.width() / 4), 100);
    QWheelEvent wheel(at, c.chart.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(c.chart.viewport(), &wheel);
    QVERIFY(c.range.isZoomed());
    c.range.reset();
    QWidget* view = c.chart.viewport();
    QTest::mousePress(view, Qt::LeftButton, {}, QPoint(static_cast<int>(c.chart.scene().toPixelX(50)), 100));
    QTest::mouseMove(view, QPoint(static_cast<int>(c.chart.scene().toPixelX(80)), 100));
    QTest::mouseMove(view, QPoint(static_cast<int>(c.chart.scene().toPixelX(100)), 100));
    QTest::mouseRelease(view, Qt::LeftButton, {}, QPoint(static_cast<int>(c.chart.scene().toPixelX(100)), 100));
    QVERIFY(std::abs(c.range.visible().from - 50) <= 1);
    QVERIFY(std::abs(c.range.visible().to - 100) <= 1);
    QTest::mouseDClick(view, Qt::LeftButton, {}, QPoint(300, 100));
    QVERIFY(!c.range.isZoomed());
}

void TestChart::hiddenChartWaits() {
    Chart c(100);
    c.chart.hide();
    const qsizetype before = c.chart.drawnPoints();
    c.add(200);
    fitRange(c.range, c.chart.runs(), XKind::Step, 0);
    c.chart.refresh();
    QCOMPARE(c.chart.drawnPoints(), before);
    c.chart.show();
    QVERIFY(c.chart.drawnPoints() > before);
}

void TestChart::smoothingKeepsTheRawLine() {
    Chart c(100);
    const qsizetype raw = c.chart.drawnPoints();
    PlotOptions options = c.chart.options();
    options.smoothingSteps = 10;
    c.chart.setOptions(options);
    QCOMPARE(c.chart.drawnPoints(), 2 * raw);
}

void TestChart::runsCanBeTakenAway() {
    Chart c(100);
    c.chart.setRuns({});
    QVERIFY(c.chart.chart()->series().isEmpty());
    c.chart.setEmptyText(QStringLiteral("nothing"));
    QCOMPARE(c.chart.scene().emptyText, QStringLiteral("nothing"));
    c.chart.grab();
}

void TestChart::tableIsAGoodModel() {
    Chart c(100);
    StepTableModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns(c.chart.runs());
    c.add(150);
    model.refresh();
    model.setQuantity(Quantity::LossScale);
    QCOMPARE(model.rowCount(), 150);
    QCOMPARE(model.columnCount(), 5);
}

void TestChart::tableGrowsOncePerRefresh() {
    Chart c(100);
    StepTableModel model;
    model.setRuns(c.chart.runs());
    QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    c.add(1'000);
    model.refresh();
    QCOMPARE(inserted.count(), 1);
    QCOMPARE(inserted[0][1].toInt(), 100);
    QCOMPARE(inserted[0][2].toInt(), 999);
    QCOMPARE(changed.count(), 0);
    StepRow row = fixture::makeStep(Precision::No, 1'000, 0, {});
    c.no.append(std::span(&row, 1));  // one run is ahead
    model.refresh();
    row = fixture::makeStep(Precision::Fp16, 1'000, 0, {});
    c.fp16.append(std::span(&row, 1));  // and the other comes after it
    model.refresh();
    QCOMPARE(inserted.count(), 2);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed[0][0].toModelIndex().row(), 1'000);
}

void TestChart::tableHasRawValues() {
    Chart c(200);
    StepTableModel model;
    model.setRuns(c.chart.runs());
    QCOMPARE(model.index(144, 3).data(Qt::DisplayRole).toString(), QStringLiteral("nan"));
    QCOMPARE(model.index(144, 4).data(StepTableModel::FateRole).toInt(), static_cast<int>(StepFate::Nonfinite));
    QCOMPARE(model.index(66, 4).data(StepTableModel::FateRole).toInt(), static_cast<int>(StepFate::SkipProbing));
    QCOMPARE(model.index(12, 1).data(StepTableModel::ValueRole).toDouble(), c.no.column(Quantity::Loss)[12]);
    QCOMPARE(model.index(12, 0).data(Qt::DisplayRole).toInt(), 12);
    model.setQuantity(Quantity::LossScale);
    QVERIFY(!model.index(12, 1).data(Qt::DisplayRole).isValid());  // `no` has no scale: empty, not NaN
}

void TestChart::csvIsRawAndComplete() {
    Chart c(5'000);
    c.range.zoomTo({10, 20});  // neither zoom nor pixels cut anything
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    writeCsv(c.chart, buffer);
    const QList<QByteArray> lines = buffer.data().split('\n');
    QCOMPARE(lines.size(), 5'002);  // header, steps, and nothing behind the last line end
    QCOMPARE(lines[0], QByteArray("step,no_loss,no_applied_step,no_seconds,no_step,fp16_loss,fp16_applied_step,fp16_seconds,fp16_step"));
    const QList<QByteArray> bad = lines[145].split(',');
    QCOMPARE(bad[0], QByteArray("144"));
    QCOMPARE(bad[1].toDouble(), c.no.column(Quantity::Loss)[144]);
    QCOMPARE(bad[5], QByteArray("nan"));
    QCOMPARE(bad[8], QByteArray("nonfinite"));
    QCOMPARE(lines[67].split(',')[8], QByteArray("skipped_probing"));
}

void TestChart::picturesAreWritten() {
    Chart c(200);
    testing::TemporaryFolder folder;
    const QString png = QString::fromStdString((folder.path() / "a.png").string());
    const QString svg = QString::fromStdString((folder.path() / "a.svg").string());
    QVERIFY(exportPng(c.chart, png).ok());
    QVERIFY(exportSvg(c.chart, svg, QStringLiteral("Loss")).ok());
    const QImage image(png);
    QCOMPARE(image.size(), c.chart.viewport()->size() * 2);
    bool hasLine = false;
    for (int y = 0; y < image.height() && !hasLine; ++y) {
        for (int x = 0; x < image.width() && !hasLine; ++x) {
            hasLine = image.pixelColor(x, y) == c.theme.colours().fp16;
        }
    }
    QVERIFY(hasLine);
    const QByteArray text = QByteArray::fromStdString(testing::content_of(folder.path() / "a.svg"));
    QVERIFY(text.contains("<title>Loss</title>"));
    QVERIFY(text.toLower().contains("#d55e00"));  // the line of fp16 as vectors
    QVERIFY(text.contains("NaN"));                // and the mark's text
}

void TestChart::unwritableFileIsASentence() {
    Chart c(10);
    const auto written = exportCsv(c.chart, QStringLiteral("/dev/null/a.csv"));  // not a folder, for nobody
    QVERIFY(!written.ok());
    QVERIFY(written.error().message.find("/dev/null/a.csv") != std::string::npos);
}

QTEST_MAIN(TestChart)
#include "test_chart.moc"
