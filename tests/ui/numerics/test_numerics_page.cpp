// The page Numerics on recordings of real values: what it picks by itself, mouse and keyboard, formats, table twins, empty places, the
// level of watching, and a run that goes on.
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include "fixture_tensors.h"
#include "support/temporary_folder.h"
#include "ui/numerics/choice_row.h"
#include "ui/numerics/heat_map.h"
#include "ui/numerics/histogram_view.h"
#include "ui/numerics/loss_curve.h"
#include "ui/numerics/numerics_page.h"
#include "ui/numerics/tensor_panel.h"
#include "ui/numerics/twin_card.h"
#include "ui/numerics/watch_switch.h"

namespace mantissa::ui {
namespace {

constexpr int patience = 8000;

struct Shown {
    testing::TemporaryFolder folder;
    Theme theme;
    fixture::Comparison made;
    NumericsPage page{theme};

    explicit Shown(const fixture::Options& options = {}, bool hasRecords = true) {
        made = fixture::writeComparison(folder.path(), options);
        if (hasRecords) {
            fixture::addTensorRecords(made, options);
        }
        page.resize(1208, 700);
        page.show();
        page.showFolder(made.folder);
    }
    [[nodiscard]] HeatMap& map() const { return *page.findChild<HeatMap*>(); }
    [[nodiscard]] const NumericsSnapshot& snapshot() const { return page.reader().snapshot(); }
    [[nodiscard]] QString label(const char* name) const { return page.findChild<QLabel*>(QLatin1String(name))->text(); }
    [[nodiscard]] QTableView& table(const char* name) const { return *page.findChild<QTableView*>(QLatin1String(name)); }
    [[nodiscard]] bool waitForPick(const std::string& tensor) const {
        return QTest::qWaitFor([&] { return snapshot().pick && snapshot().pick->row.tensor == tensor; }, patience);
    }
};

}  // namespace

class NumericsPageTest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void showsTheWorstTensorAtTheLastStepByItself() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        QCOMPARE(shown.snapshot().runs.size(), std::size_t{3});
        QCOMPARE(shown.snapshot().pick->row.step, std::int64_t{239});
        QCOMPARE(shown.map().heat()->tensors(), (std::vector<std::string>{"hidden", "gate.a", "gate.mul", "head"}));
        QVERIFY2(shown.map().readout().startsWith("gate.mul · step 239 · Headroom in fp16: "), qPrintable(shown.map().readout()));
        shown.page.chooseRun(1);  // fp16 stopped at 144 with two Inf of 2048
        QTRY_COMPARE_WITH_TIMEOUT(shown.snapshot().request.run, std::size_t{1}, patience);
        QVERIFY(shown.waitForPick("gate.mul"));
        QTRY_COMPARE_WITH_TIMEOUT(shown.snapshot().pick->row.step, std::int64_t{144}, patience);
        QVERIFY2(shown.map().readout().contains("of it NaN or Inf"), qPrintable(shown.map().readout()));
        QVERIFY2(shown.label("tensorNote").contains("1 +Inf and 1 −Inf"), qPrintable(shown.label("tensorNote")));
        QVERIFY2(shown.label("tensorNote").contains("already lie in fp16"), qPrintable(shown.label("tensorNote")));
    }

    void mouseAndKeysGoToATensor() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        HeatMap& map = shown.map();
        QTest::mouseMove(map.viewport(), map.positionOf(1, 3));
        QTRY_VERIFY2(map.readout().startsWith("gate.a · step 60"), qPrintable(map.readout()));
        QTest::mouseClick(map.viewport(), Qt::LeftButton, {}, map.positionOf(1, 3));
        QVERIFY(shown.waitForPick("gate.a"));
        QCOMPARE(shown.snapshot().pick->row.step, std::int64_t{60});
        QTest::mouseMove(map.viewport(), QPoint(map.viewport()->width() - 2, map.viewport()->height() - 2));
        QTest::keyClick(&map, Qt::Key_Up);
        QVERIFY(shown.waitForPick("hidden"));
        QTest::keyClick(&map, Qt::Key_Right);
        QTRY_COMPARE_WITH_TIMEOUT(shown.snapshot().pick->row.step, std::int64_t{80}, patience);
        QTest::keyClick(&map, Qt::Key_End);
        QTRY_COMPARE_WITH_TIMEOUT(shown.snapshot().pick->row.step, std::int64_t{239}, patience);
        QVERIFY(!shown.page.reader().request().step);  // the last step: it goes on with the run
        QVERIFY(map.accessibleDescription().contains("hidden"));
    }

    void sliderAndGaugesSayTheSame() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        shown.page.chooseRole(TensorRole::Gradient);
        QTRY_VERIFY_WITH_TIMEOUT(shown.snapshot().pick && shown.snapshot().pick->row.role == TensorRole::Gradient, patience);
        QTest::keyClick(&shown.map(), Qt::Key_PageDown);
        QVERIFY(shown.waitForPick("head.weight"));
        auto* slider = shown.page.findChild<QSlider*>("lossScaleSlider");
        QCOMPARE(slider->value(), 14);  // where the scaler of fp16 stands, in the control too
        QCOMPARE(*shown.page.findChild<LossCurve*>()->scaler(), 14.0);
        QVERIFY(QTest::qWaitFor([&] { return shown.label("fp16.flush") != QLatin1String("–"); }, patience));
        slider->setValue(0);
        const TensorPick& pick = *shown.snapshot().pick;
        const double flushed = read_lens(*pick.input, NumberFormat::Fp16, 1).flush;
        QVERIFY2(flushed > 0.05 && flushed < 0.2, qPrintable(QString::number(flushed)));  // |x| < 2^-25 of a normal with 2e-7: 11.8 %
        QCOMPARE(shown.label("fp16.flush"), QString::number(100 * flushed, 'f', 1) + " %");
        QCOMPARE(shown.label("bf16.flush"), QStringLiteral("0 %"));
        QCOMPARE(shown.label("lossScaleValue"), QStringLiteral("2^0"));
        QTest::keyClick(shown.page.findChild<LossCurve*>(), Qt::Key_Right);
        QCOMPARE(slider->value(), 1);
        shown.page.findChild<QToolButton*>("toScaler")->click();
        QCOMPARE(slider->value(), 14);
        slider->setValue(24);
        QVERIFY(QTest::qWaitFor([&] { return shown.label("fp16.overflow") != QLatin1String("–"); }, patience));
        shown.page.chooseFormat(NumberFormat::E5m2);
        QVERIFY(shown.page.findChild<HistogramView*>()->minimumSizeHint().isValid());
        auto* histogram = shown.page.findChild<HistogramView*>();
        QTest::keyClick(histogram, Qt::Key_Home);
        QVERIFY2(histogram->readout().contains("e5m2"), qPrintable(histogram->readout()));
    }

    void everyChartHasItsTable() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        for (TwinCard* card : shown.page.findChildren<TwinCard*>()) {
            const QAbstractItemModelTester tester(&card->model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
            QVERIFY(!card->isTableShown());
            for (QToolButton* button : card->findChildren<QToolButton*>()) {
                if (button->text() == QLatin1String("Table")) {
                    button->click();
                }
            }
            QVERIFY(card->isTableShown());
            QVERIFY(card->model().rowCount() > 0);
        }
        QTableView& heat = shown.table("heatTable");
        QCOMPARE(heat.model()->rowCount(), 4 * 13);  // steps 0, 20 … 220, 239 … of four outputs
        const QModelIndex first = heat.model()->index(1, 0);
        QCOMPARE(first.data().toString(), QStringLiteral("gate.a"));
        Q_EMIT heat.activated(first);
        QVERIFY(shown.waitForPick("gate.a"));
    }

    void localErrorIsOnlyAskedOfOtherModes() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        const auto sentence = [&] { return qobject_cast<QStackedWidget*>(shown.table("localErrorTable").parentWidget()->parentWidget())->widget(0); };
        QVERIFY(qobject_cast<QLabel*>(sentence())->text().contains("fp32 already"));
        shown.page.chooseRun(1);
        QTRY_VERIFY_WITH_TIMEOUT(qobject_cast<QLabel*>(sentence())->text().contains("observe.local_error_every"), patience);
    }

    void opsShowThatAModeIsOn() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        shown.page.chooseRun(1);
        QTRY_VERIFY_WITH_TIMEOUT(shown.label("opSentence").startsWith("fp16, step 0: 2 of 4"), patience);
        auto* against = shown.page.findChild<QComboBox*>("opsAgainst");
        const int control = against->findText("no");
        QVERIFY(control > 0);
        against->setCurrentIndex(control);
        Q_EMIT against->activated(control);
        QCOMPARE(shown.table("opTable").model()->index(1, 2).data().toString(), QStringLiteral("4  (+4)"));
        QCOMPARE(shown.table("updateTable").model()->index(0, 0).data().toString(), QStringLiteral("head.weight"));
        QCOMPARE(shown.table("updateTable").model()->index(0, 2).data().toString(), QStringLiteral("83.0 %"));
    }

    void emptyPlacesSayWhatToDo() {
        Theme theme;
        NumericsPage page(theme);
        page.show();
        QVERIFY(page.findChild<HeatMap*>()->accessibleDescription().contains("Nothing is open"));
        Shown shown({}, false);
        QTRY_VERIFY2_WITH_TIMEOUT(shown.map().accessibleDescription().contains("Switch to level 1"),
                                  qPrintable(shown.map().accessibleDescription()), patience);
        fixture::Options over;
        over.ended = true;
        over.steps = over.planned;
        Shown ended(over, false);
        QTRY_VERIFY2_WITH_TIMEOUT(ended.map().accessibleDescription().contains("Run the comparison again"),
                                  qPrintable(ended.map().accessibleDescription()), patience);
    }

    void foretellsFromTheControlInWordsOfTheLanguage() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        QTRY_VERIFY_WITH_TIMEOUT(shown.snapshot().forecast != nullptr, patience);
        const QStringList english = shown.label("forecast").split(QStringLiteral("\n\n"));
        QCOMPARE(english.size(), 3);
        QVERIFY2(english[0].startsWith("fp16: ") && english[0].contains("gate.mul"), qPrintable(english[0]));
        QVERIFY2(english[1].startsWith("bf16: "), qPrintable(english[1]));
        shown.page.setLanguage("zh");
        QVERIFY2(shown.label("forecast").startsWith(QStringLiteral("fp16：")), qPrintable(shown.label("forecast")));
        // It is told from the control, whichever run is looked at.
        shown.page.setLanguage("en");
        shown.page.chooseRun(1);
        QTRY_COMPARE_WITH_TIMEOUT(shown.snapshot().request.run, std::size_t(1), patience);
        QCOMPARE(shown.label("forecast"), english.join(QStringLiteral("\n\n")));
    }

    void withoutRecordsTheForecastSaysWhatItNeeds() {
        Shown running({}, false);
        QTRY_VERIFY_WITH_TIMEOUT(running.label("forecast").contains("as soon as the run in mode no"), patience);
        fixture::Options over;
        over.ended = true;
        over.steps = over.planned;
        Shown ended(over, false);
        QTRY_VERIFY_WITH_TIMEOUT(ended.label("forecast").contains("observe.level to 1"), patience);
        QVERIFY(!ended.snapshot().forecast);
    }

    void levelIsSwitchedWhileItRuns() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        auto* levels = shown.page.findChild<ChoiceRow*>("watchLevels");
        QSignalSpy asked(&shown.page, &NumericsPage::watchRequested);
        QVERIFY(!levels->isEnabled());
        shown.page.setControl(true, {});
        QVERIFY(levels->isEnabled());
        QCOMPARE(levels->current(), 1);
        levels->findChildren<QToolButton*>().at(2)->click();
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.front().front().toInt(), 2);
        // 0.1 ms of the 5.1 ms that a step of the control takes.
        const auto* cost = shown.page.findChild<QLabel*>("watchCost");
        QVERIFY2(cost->text().startsWith("costs 1.9") || cost->text().startsWith("costs 2.0"), qPrintable(cost->text()));
        QVERIFY2(cost->toolTip().contains("100 µs"), qPrintable(cost->toolTip()));
        fixture::Options over;
        over.ended = true;
        over.steps = over.planned;
        Shown ended(over);
        QVERIFY(ended.waitForPick("gate.mul"));
        ended.page.setControl(true, {});
        QVERIFY(!ended.page.findChild<ChoiceRow*>("watchLevels")->isEnabled());
    }

    void costIsThatOfThePresentLevel() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        auto recorder = RunRecorder::open(shown.made.runs[0].path);
        QVERIFY(recorder.ok());
        const auto tell = [&](std::int64_t step, const char* steps, const char* ns) {
            (*recorder)->meta("watch_level", "2");
            (*recorder)->meta("watch_steps", steps);
            (*recorder)->meta("watch_ns", ns);
            (*recorder)->tensor_stat(fixture::tensorRow(step, "inlet", TensorRole::Output, "float32", std::vector<float>{1.0F}));
            return (*recorder)->flush().ok();
        };
        const auto* cost = shown.page.findChild<QLabel*>("watchCost");
        QVERIFY(tell(260, "250", "25000000"));
        QTRY_COMPARE_WITH_TIMEOUT(shown.page.findChild<ChoiceRow*>("watchLevels")->current(), 2, patience);
        QVERIFY2(!cost->isVisible(), qPrintable(cost->text()));  // no step measured at it yet
        (*recorder)->meta("watch_thinned", R"([{"step": 262, "every": 2}])");
        QVERIFY(tell(262, "260", "35000000"));  // 10 steps of 1 ms
        QTRY_VERIFY2_WITH_TIMEOUT(cost->toolTip().contains("1.00 ms") || cost->toolTip().contains("1 ms"), qPrintable(cost->toolTip()), patience);
        QVERIFY2(cost->text().startsWith("costs 19."), qPrintable(cost->text()));
        QVERIFY2(cost->toolTip().contains("step 262: from there a record every 2 steps"), qPrintable(cost->toolTip()));
    }

    void growsWhileTheRunGoesOn() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        auto recorder = RunRecorder::open(shown.made.runs[0].path);
        QVERIFY(recorder.ok());
        (*recorder)->tensor_stat(fixture::tensorRow(260, "gate.mul", TensorRole::Output, "float32", std::vector<float>{70000.0F, 1.0F}));
        QVERIFY((*recorder)->flush().ok());
        QTRY_COMPARE_WITH_TIMEOUT(shown.map().heat()->columns().back().last, std::int64_t{260}, patience);
        QTRY_COMPARE_WITH_TIMEOUT(shown.snapshot().pick->row.step, std::int64_t{260}, patience);
        QVERIFY2(shown.map().readout().contains("-0.1 bits"), qPrintable(shown.map().readout()));
        shown.page.hide();  // nobody looks: nothing is read
        (*recorder)->tensor_stat(fixture::tensorRow(280, "gate.mul", TensorRole::Output, "float32", std::vector<float>{1.0F}));
        QVERIFY((*recorder)->flush().ok());
        QTest::qWait(900);
        QCOMPARE(shown.map().heat()->columns().back().last, std::int64_t{260});
        shown.page.show();
        QTRY_COMPARE_WITH_TIMEOUT(shown.map().heat()->columns().back().last, std::int64_t{280}, patience);
    }

    void fitsTheSmallestWindow() {
        Shown shown;
        QVERIFY(shown.waitForPick("gate.mul"));
        QVERIFY2(shown.page.minimumSizeHint().width() <= 950 && shown.page.minimumSizeHint().height() <= 500,
                 qPrintable(QStringLiteral("%1×%2").arg(shown.page.minimumSizeHint().width()).arg(shown.page.minimumSizeHint().height())));
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::NumericsPageTest)
#include "test_numerics_page.moc"
