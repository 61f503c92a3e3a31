// The Live page on recordings: what must never be hidden, and that everything can be reached by keyboard.
#include <QAbstractButton>
#include <QButtonGroup>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>
#include <QtTest>

#include "shown_page.h"
#include "record/comparison_record.h"
#include "record/replica.h"
#include "ui/bridge/elided_label.h"
#include "ui/charts/chart_card.h"
#include "ui/charts/step_range.h"
#include "ui/live/headline_bar.h"
#include "ui/live/live_page.h"
#include "ui/live/loss_panel.h"

using namespace mantissa;
using namespace mantissa::ui;
using namespace mantissa::ui::live_test;

class TestLive : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void emptyPageOffersASample();
    void runningComparison();
    void endedComparisonSaysItsDecision();
    void aRepeatedControlIsSaid();
    void whyOpensReasonsAndVerdicts();
    void unfairIsNeverHidden();
    void trialPhaseIsShown();
    void refusedTrialIsShown();
    void lostRunIsShown();
    void singleRunFromItsFolder();
    void repetitionsSpanABandOfTheirRecordedLosses();
    void foldsOpenTheirCharts();
    void controlsChangeTheChart();
    void withoutFp16ThereIsNoScaleBox();
    void everythingIsReachedByKeyboard();
    void fitsIntoASmallWindow();
    void anotherLanguage();
    void goesFromOneComparisonToAnother();
};

void TestLive::emptyPageOffersASample() {
    Page p;
    QSignalSpy sample(&p.page, &LivePage::openSampleRequested), setUp(&p.page, &LivePage::setUpRequested);
    p.page.findChild<QPushButton*>(QStringLiteral("openSample"))->click();
    p.page.findChild<QPushButton*>(QStringLiteral("openSetUp"))->click();
    QCOMPARE(sample.count(), 1);
    QCOMPARE(setUp.count(), 1);
}

void TestLive::runningComparison() {
    Page p;
    QSignalSpy title(&p.page, &LivePage::titleChanged), status(&p.page, &LivePage::statusChanged);
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    QTRY_VERIFY_WITH_TIMEOUT(p.headline().text().contains(QStringLiteral("fp16 stopped at step 144")), patience);
    QCOMPARE(p.headline().severity(), QStringLiteral("error"));
    QVERIFY(!p.headline().text().contains(QStringLiteral("Repeating")));
    QVERIFY(p.has(QStringLiteral("emulated")));
    QVERIFY(p.has(QStringLiteral("control")));
    QVERIFY(p.has(QStringLiteral("stopped at 144")));
    QVERIFY(p.has(QStringLiteral("NaN")));
    QVERIFY(p.has(QStringLiteral("fair ✓")));
    QCOMPARE(p.page.lossPanel().chart().scene().marks.size(), std::size_t{1});
    QTRY_COMPARE_WITH_TIMEOUT(title.last().at(0).toString(), QStringLiteral("gated-overflow · no / fp16 / bf16"), patience);
    QCOMPARE(title.last().at(1).toString(), QStringLiteral("digits · batch 32 · AdamW 0.003 · seed 7"));
    QTRY_VERIFY_WITH_TIMEOUT(status.last().at(0).toString().contains(QStringLiteral("2 workers")), patience);
    QVERIFY(status.last().at(0).toString().contains(QStringLiteral("fp16, bf16 emulated")));
    QVERIFY(p.page.findChild<QPushButton*>(QStringLiteral("stopRuns"))->isVisible());
}

void TestLive::endedComparisonSaysItsDecision() {
    Page p;
    const fixture::Comparison made = p.show(over());
    const auto record = read_comparison(made.folder);
    QVERIFY(record.ok() && record->decision);
    QTRY_COMPARE_WITH_TIMEOUT(p.headline().text(), QString::fromStdString(record->decision->text), patience);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("✓ 300 / 300")), patience);
    QVERIFY(!p.page.findChild<QPushButton*>(QStringLiteral("stopRuns"))->isVisible());
}

void TestLive::aRepeatedControlIsSaid() {
    Page p;
    const fixture::Comparison made = p.show(over());
    auto record = *read_comparison(made.folder);
    record.state = "repeating";
    record.repeating = {2, 3};
    record.decision.reset();
    QVERIFY(write_comparison(made.folder, record).ok());
    QTRY_VERIFY2_WITH_TIMEOUT(p.headline().text().contains(QStringLiteral("Repeating `no`: 2 of 3")), qPrintable(p.headline().text()), patience);
}

void TestLive::whyOpensReasonsAndVerdicts() {
    Page p;
    const fixture::Comparison made = p.show(over());
    const auto record = read_comparison(made.folder);
    QTRY_COMPARE_WITH_TIMEOUT(p.headline().text(), QString::fromStdString(record->decision->text), patience);
    const QString reason = QString::fromStdString(record->decision->reasons.front()).toHtmlEscaped();
    const QString verdict = QString::fromStdString(record->verdicts.front().text).toHtmlEscaped();
    QVERIFY(!p.has(reason));
    p.headline().findChild<QPushButton*>()->click();
    QVERIFY(p.has(reason));
    QVERIFY(p.has(verdict));
}

void TestLive::unfairIsNeverHidden() {
    Page p;
    fixture::Options options;
    options.isFair = false;
    const fixture::Comparison made = p.show(options);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("not a fair comparison")), patience);
}

void TestLive::trialPhaseIsShown() {
    Page p;
    fixture::Options options;
    options.trialOnly = true;
    const fixture::Comparison made = p.show(options);
    QTRY_VERIFY_WITH_TIMEOUT(p.headline().text().contains(QStringLiteral("Trying fp16")), patience);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("trial ✓")), patience);
    QVERIFY(p.has(QStringLiteral("trying…")));
    {
        auto recorder = RunRecorder::open(made.runs.at(0).path);  // its trial is done, those of the others aren't
        (*recorder)->state(RunState::Trial);
    }
    QTRY_COMPARE_WITH_TIMEOUT(p.page.follower()->runs()[0]->state().state, RunState::Trial, patience);
    QTest::qWait(100);
    QVERIFY(p.has(QStringLiteral("trial ✓")));
}

void TestLive::refusedTrialIsShown() {
    Page p;
    fixture::Options options;
    options.trialOnly = true;
    const fixture::Comparison made = fixture::writeComparison(p.folder.path(), options);
    auto record = read_comparison(made.folder);
    TrialReport refused;
    refused.mode = Precision::Fp16;
    refused.choice.support = Support::Unsupported;
    refused.refusal = "conv2d has no fp16 kernel here";
    record->trials.push_back(refused);
    QVERIFY(write_comparison(made.folder, *record).ok());
    p.page.showComparison(made.folder);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("✗ refused")), patience);
    QVERIFY(p.headline().text().contains(QStringLiteral("Trying bf16")));
}

void TestLive::lostRunIsShown() {
    Page p;
    fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    made.locks.clear();  // the workers die
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("lost at 239")), patience);
    QTRY_VERIFY_WITH_TIMEOUT(p.headline().text().contains(QStringLiteral("lost")), patience);
}

void TestLive::singleRunFromItsFolder() {
    Page p;
    const fixture::Comparison made = fixture::writeComparison(p.folder.path(), over());
    p.page.showRun(made.runs.at(1).path);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("stopped at 144")), patience);
    QTRY_COMPARE_WITH_TIMEOUT(p.page.lossPanel().chart().runs().front().mode, Precision::Fp16, patience);
    QVERIFY(!p.page.findChild<QToolButton*>(QStringLiteral("lossView1"))->isEnabled());  // no control to compare with
}

void TestLive::repetitionsSpanABandOfTheirRecordedLosses() {
    Page p;
    const fixture::Comparison made = fixture::writeComparison(p.folder.path(), over());
    std::vector<ReplicaRun> replicas;
    double low = 1e9, high = 0;  // of step 150
    for (std::int64_t number = 1; number <= 3; ++number) {
        const auto run = create_run_folder(p.folder.path(), "gated-overflow-repetition", Precision::No);
        QVERIFY(run.ok());
        const auto recorder = RunRecorder::open(run->path);
        QVERIFY(recorder.ok());
        fixture::writeRunStart(**recorder, Precision::No, over(), {});
        for (std::int64_t step = 0; step < 200; ++step) {
            StepRow row = fixture::makeStep(Precision::No, step, 0, over());
            row.loss *= 0.8 + 0.2 * static_cast<double>(number);
            (*recorder)->step(row);
            low = step == 150 ? std::min(low, row.loss) : low;
            high = step == 150 ? std::max(high, row.loss) : high;
        }
        (*recorder)->state(RunState::Finished);
        QVERIFY((*recorder)->flush().ok());
        replicas.push_back({{ReplicaRole::Repetition, number}, run->path});
    }
    replicas.push_back({{ReplicaRole::Rounding, 1}, made.runs[2].path});  // a thin line, no part of the band
    QVERIFY(write_replica_runs(made.folder, replicas).ok());
    p.page.showComparison(made.folder);
    RunChart& chart = p.page.lossPanel().chart();
    QTRY_COMPARE_WITH_TIMEOUT(chart.repetitions().size(), std::size_t{3}, patience);
    const auto spread = [&chart] { return spreadAt(chart.repetitions(), 150, Quantity::Loss); };
    QTRY_VERIFY_WITH_TIMEOUT(spread() && spread()->runs == 3, patience);
    QCOMPARE(spread()->low, low);
    QCOMPARE(spread()->high, high);
    QTRY_VERIFY_WITH_TIMEOUT(chart.scene().band.has_value(), patience);
    QCOMPARE(chart.runs().size(), std::size_t{3});  // they are no modes
    QCOMPARE(p.page.shownRuns().size(), std::size_t{3});
    p.page.showNothing();
    QVERIFY(chart.repetitions().empty());
}

void TestLive::foldsOpenTheirCharts() {
    Page p;
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    auto* card = p.page.findChild<ChartCard*>(QStringLiteral("throughputCard"));
    QVERIFY(!card->isVisible());
    for (QToolButton* button : p.page.findChildren<QToolButton*>()) {
        if (button->accessibleName() == QStringLiteral("throughput")) {
            QTest::keyClick(button, Qt::Key_Space);
        }
    }
    QVERIFY(card->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(card->chart().drawnPoints() > 100, patience);
}

void TestLive::controlsChangeTheChart() {
    Page p;
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    p.page.findChild<QToolButton*>(QStringLiteral("lossView1"))->click();
    QCOMPARE(p.page.lossPanel().chart().options().view, ValueView::DifferenceToControl);
    QVERIFY(!p.page.findChild<QToolButton*>(QStringLiteral("lossScale"))->isEnabled());
    PlotOptions options = p.page.lossPanel().lossOptions();
    options.x = XKind::Time;
    options.view = ValueView::Absolute;
    p.page.lossPanel().setLossOptions(options);
    QCOMPARE(p.page.findChild<ChartCard*>(QStringLiteral("memoryCard"))->chart().options().x, XKind::Time);
    QVERIFY(p.page.range().whole().to < 7);  // 240 steps of 25 ms
}

void TestLive::withoutFp16ThereIsNoScaleBox() {
    Page p;
    fixture::Options options;
    options.modes = {Precision::No, Precision::Bf16};
    const fixture::Comparison made = p.show(options);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    QTRY_VERIFY_WITH_TIMEOUT(!p.page.findChild<ChartCard*>(QStringLiteral("scaleCard"))->isVisible(), patience);
}

void TestLive::everythingIsReachedByKeyboard() {
    Page p;
    const fixture::Comparison made = p.show(over());
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("✓ 300 / 300")), patience);
    p.page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&p.page));
    QSet<QWidget*> reached;
    for (int i = 0; i < 80; ++i) {
        QWidget* focused = QApplication::focusWidget();
        QTest::keyClick(focused ? focused : &p.page, Qt::Key_Tab);
        reached << QApplication::focusWidget();
        const auto* choice = qobject_cast<QAbstractButton*>(QApplication::focusWidget());
        if (choice && choice->group()) {  // Tab goes to the chosen one of a group, arrows to the others
            QWidget* chosen = QApplication::focusWidget();
            for (int k = 1; k < choice->group()->buttons().size(); ++k) {
                QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
                reached << QApplication::focusWidget();
            }
            chosen->setFocus();
        }
    }
    for (QAbstractButton* button : p.page.findChildren<QAbstractButton*>()) {
        if (button->isVisible()) {
            QVERIFY2(reached.contains(button), qPrintable(button->text()));
            QVERIFY2(!button->accessibleName().isEmpty() || !button->text().isEmpty(), qPrintable(button->objectName()));
        }
    }
    for (RunChart* chart : p.page.findChildren<RunChart*>()) {
        QVERIFY2(!chart->isVisible() || reached.contains(chart), qPrintable(chart->accessibleName()));
        QVERIFY(!chart->accessibleName().isEmpty());
    }
}

void TestLive::fitsIntoASmallWindow() {
    Page p;
    const fixture::Comparison made = p.show({});
    p.page.resize(952, 538);  // 1024×600 without the shell's own frame
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    QTest::qWait(100);
    const QLabel* fairness = p.page.findChild<QLabel*>(QStringLiteral("fairness"));
    const QPoint corner = fairness->mapTo(&p.page, QPoint(fairness->width(), fairness->height()));
    QVERIFY2(corner.x() <= 952 && corner.y() <= 538, qPrintable(QStringLiteral("%1 %2").arg(corner.x()).arg(corner.y())));
    // What a small chart says of itself ends in an ellipsis, and is whole as a tool tip.
    ElidedLabel* subtitle = p.page.findChild<QWidget*>(QStringLiteral("scaleCard"))->findChild<ElidedLabel*>(QStringLiteral("chartSubtitle"));
    subtitle->setWholeText(QStringLiteral("fp16 · now 2^16, and some words that are far too many for a card as narrow as this one is"));
    QVERIFY(subtitle->shownText().endsWith(QChar(0x2026)));
    QVERIFY(subtitle->fontMetrics().horizontalAdvance(subtitle->shownText()) <= subtitle->width());
    QCOMPARE(subtitle->toolTip(), subtitle->text());
    QVERIFY2(2 * p.page.lossPanel().height() >= 538, qPrintable(QString::number(p.page.lossPanel().height())));
}

void TestLive::anotherLanguage() {
    Page p;
    p.page.setLanguage("zh");
    const fixture::Comparison made = p.show(over());
    QTRY_VERIFY_WITH_TIMEOUT(!p.headline().text().isEmpty(), patience);
    const auto isChinese = [](const QString& text) {
        return std::any_of(text.begin(), text.end(), [](QChar c) { return c.script() == QChar::Script_Han; });
    };
    QTRY_VERIFY_WITH_TIMEOUT(isChinese(p.headline().text()), patience);
}

void TestLive::goesFromOneComparisonToAnother() {
    Page p;
    const fixture::Comparison first = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    fixture::Options options;
    options.modes = {Precision::No, Precision::Bf16};
    options.steps = 80;
    const fixture::Comparison second = p.show(options);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("80 / 300")), patience);
    QCOMPARE(p.page.lossPanel().chart().runs().size(), std::size_t{2});
    QVERIFY(!p.has(QStringLiteral("240 / 300")));
    p.page.showNothing();
    QVERIFY(p.page.findChild<QPushButton*>(QStringLiteral("openSample"))->isVisible());
}

QTEST_MAIN(TestLive)
#include "test_live.moc"
