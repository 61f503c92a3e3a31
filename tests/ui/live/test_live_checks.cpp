// What a strip opens: the four checks with this run's values, and the actions of a mode; a run that goes on from a checkpoint.
#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>
#include <QtTest>

#include "record/comparison_record.h"
#include "record/meta_keys.h"
#include "shown_page.h"
#include "ui/charts/chart_card.h"
#include "ui/live/checks_panel.h"
#include "ui/live/loss_panel.h"

using namespace mantissa;
using namespace mantissa::ui;
using namespace mantissa::ui::live_test;

class TestLiveChecks : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void fourChecksOpen();
    void checksFollowTheRun();
    void aModeThatNeverRanIsNotOn();
    void aContinuedRunShowsWhatCameBefore();
    void eachModeHasItsMenu();
    void alarmsAreMarkedAndTold();
};

void TestLiveChecks::fourChecksOpen() {
    Page p;
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("on ✓ ▾")), patience);
    auto* opener = p.page.findChild<QToolButton*>(QStringLiteral("checks_fp16"));
    p.page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&p.page));
    opener->setFocus();
    QTest::keyClick(opener, Qt::Key_Space);
    QPointer<ChecksPanel> panel = p.page.findChild<ChecksPanel*>();
    QVERIFY(panel && panel->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(panel->plainText().contains(QStringLiteral("Loss scale 2^16 at the start")), patience);
    const QString text = panel->plainText();
    for (const char* wanted :
         {"Is fp16 really on?", "✓ Yes: 97 % of the multiply-adds and 2 of 4 kinds of op gave float16 results in step 0.",
          "Products in float16: addmm.", "✓ Sources: fp16 was asked for and fp16 is in effect on cpu (AMD EPYC, 2 cores).",
          "The mode is one of the list no,fp16,bf16, from the flag --modes.",
          "Overruled: mixed_precision bf16 from the environment variable ACCELERATE_MIXED_PRECISION.", "! Support: Emulated on cpu",
          "✗ Loss, gradients, skips: 1 of 145 steps not finite, the first at step 144.",
          "Applied: 141 of 145. Skipped: 3 while probing, 1 as faults.", "– fp8 backend: Not asked for: this run is fp16."}) {
        QVERIFY2(text.contains(QString::fromUtf8(wanted)), qPrintable(QStringLiteral("%1\nin\n%2").arg(QString::fromUtf8(wanted), text)));
    }
    const auto* numbers = panel->findChild<QLabel*>(QStringLiteral("check_numbers"));
    QVERIFY2(panel->height() > 300 && numbers->height() >= 4 * numbers->fontMetrics().height(), qPrintable(QString::number(panel->height())));
    QVERIFY(numbers->accessibleName().startsWith(QStringLiteral("failed. Loss, gradients, skips: 1 of 145")));
    QVERIFY(numbers->focusPolicy() & Qt::TabFocus);
    panel->findChild<QPushButton*>(QStringLiteral("copyChecks"))->click();
    QCOMPARE(QGuiApplication::clipboard()->text(), text);
    QTest::keyClick(panel, Qt::Key_Escape);
    QTRY_VERIFY(!panel);
    QCOMPARE(p.page.focusWidget(), opener);  // back to where it was opened
}

void TestLiveChecks::checksFollowTheRun() {
    Page p;
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    p.page.findChild<QToolButton*>(QStringLiteral("checks_bf16"))->click();
    const ChecksPanel* panel = p.page.findChild<ChecksPanel*>();
    QVERIFY(panel->plainText().contains(QStringLiteral("All 240 steps finite and applied.")));
    {
        auto recorder = RunRecorder::open(made.runs.at(2).path);
        (*recorder)->step(fixture::makeStep(Precision::Bf16, 240, 0, {}));
        QVERIFY((*recorder)->flush().ok());
    }
    QTRY_VERIFY_WITH_TIMEOUT(panel->plainText().contains(QStringLiteral("All 241 steps finite and applied.")), patience);
}

void TestLiveChecks::aModeThatNeverRanIsNotOn() {
    Page p;
    fixture::Options options;
    options.trialOnly = true;
    const fixture::Comparison made = fixture::writeComparison(p.folder.path(), options);
    auto record = read_comparison(made.folder);
    TrialReport refused;
    refused.mode = Precision::Fp16;
    refused.choice.support = Support::Unsupported;
    refused.choice.reason = "this machine has no fp16 kernels.";
    refused.refusal = "conv2d has no fp16 kernel here";
    refused.refused_op = "conv2d";
    record->trials.push_back(refused);
    QVERIFY(write_comparison(made.folder, *record).ok());
    p.page.showComparison(made.folder);
    auto* opener = p.page.findChild<QToolButton*>(QStringLiteral("checks_fp16"));
    QTRY_VERIFY_WITH_TIMEOUT((opener = p.page.findChild<QToolButton*>(QStringLiteral("checks_fp16"))) != nullptr &&
                                 opener->text() == QStringLiteral("not on ✗ ▾"),
                             patience);
    opener->click();
    const QString text = p.page.findChild<ChecksPanel*>()->plainText();
    QVERIFY2(text.contains(QStringLiteral("✗ No: fp16 was refused before training, so nothing ran in it.")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("✗ Support: One batch of this model was refused: conv2d has no fp16 kernel here")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("Refused at conv2d")), qPrintable(text));
}

void TestLiveChecks::aContinuedRunShowsWhatCameBefore() {
    Page p;
    const fixture::Comparison made = fixture::writeComparison(p.folder.path(), over());
    const auto folder = create_run_folder(p.folder.path(), "gated-overflow", Precision::No);
    QVERIFY(folder.ok());
    std::filesystem::copy_file(made.runs.at(0).plan(), folder->plan());  // what makes a folder a run
    {
        const auto recorder = RunRecorder::open(folder->path);
        fixture::Options longer;
        longer.planned = 400;
        fixture::writeRunStart(**recorder, Precision::No, longer, {});
        (*recorder)->meta(meta::resumed_checkpoint, (made.runs.at(2).path / "checkpoints/checkpoint_300").string());
        (*recorder)->meta(meta::resumed_run, made.runs.at(2).path.string());
        (*recorder)->meta(meta::resumed_step, "300");
        (*recorder)->meta(meta::resumed_applied, "300");
        (*recorder)->meta(meta::resumed_mode, "bf16");
        (*recorder)->meta(meta::resumed_scale, "none");
        for (std::int64_t step = 300; step < 350; ++step) {
            (*recorder)->step(fixture::makeStep(Precision::No, step, 0, longer));
        }
        (*recorder)->state(RunState::Finished);
        QVERIFY((*recorder)->flush().ok());
    }
    p.page.showRun(folder->path);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("Goes on from step 300 of")), patience);
    QVERIFY(p.has(QStringLiteral("Saved in bf16, goes on in no")));
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("350 / 400")), patience);
    RunChart& chart = p.page.lossPanel().chart();
    QTRY_COMPARE_WITH_TIMEOUT(chart.runs().size(), std::size_t{2}, patience);
    QVERIFY(!chart.runs()[0].isBefore && chart.runs()[1].isBefore);
    QCOMPARE(chart.runs()[1].mode, Precision::Bf16);
    QTRY_COMPARE_WITH_TIMEOUT(chart.runs()[1].series->size(), std::size_t{300}, patience);
    QTRY_COMPARE_WITH_TIMEOUT(chart.scene().lanes.size(), std::size_t{2}, patience);
    QCOMPARE(chart.scene().lanes[1].name, QStringLiteral("← bf16"));
    QCOMPARE(nameOf(chart.runs()[1]), QStringLiteral("bf16 before"));
    QVERIFY(p.page.findChild<QToolButton*>(QStringLiteral("checks_bf16")) == nullptr);  // no strip for what came before
    p.page.findChild<QToolButton*>(QStringLiteral("checks_no"))->click();
    const QString text = p.page.findChild<ChecksPanel*>()->plainText();
    QVERIFY2(text.contains(QStringLiteral("Applied: 50 of 50.")), qPrintable(text));  // its own steps
    QSignalSpy goOn(&p.page, &LivePage::continueRequested);
    auto* button = p.page.findChild<QPushButton*>(QStringLiteral("continueRun"));
    QVERIFY(button->isVisible());
    QVERIFY(!p.page.findChild<QPushButton*>(QStringLiteral("checkpointRuns"))->isVisible());
    button->click();
    QCOMPARE(goOn.count(), 1);
}

void TestLiveChecks::eachModeHasItsMenu() {
    Page p;
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    QSignalSpy weights(&p.page, &LivePage::saveWeightsRequested), checkpoint(&p.page, &LivePage::checkpointRequested);
    auto* menu = p.page.findChild<QToolButton*>(QStringLiteral("modeMenu_bf16"))->menu();
    QCOMPARE(menu->actions().size(), 4);
    QVERIFY(!menu->actions().at(0)->isVisible());  // bf16 has met no bad step
    menu->actions().at(1)->trigger();
    QCOMPARE(weights.last().first().value<std::filesystem::path>(), made.runs.at(2).path);
    auto* button = p.page.findChild<QPushButton*>(QStringLiteral("checkpointRuns"));
    QVERIFY(button->isVisible());
    QVERIFY(!button->isEnabled());  // nobody listens to this made-up recording
    QVERIFY(!button->toolTip().isEmpty());
}

void TestLiveChecks::alarmsAreMarkedAndTold() {
    Page p;
    fixture::Options options = over();
    options.fp16NanAt = 144;
    const fixture::Comparison made = p.show(options);
    QTRY_COMPARE_WITH_TIMEOUT(p.page.lossPanel().chart().runs().size(), std::size_t{3}, patience);
    QVERIFY(p.has(QStringLiteral("alarms (0)")));
    auto* list = p.page.findChild<QLabel*>(QStringLiteral("alarms"));
    QCOMPARE(list->text(), QStringLiteral("No alarm has fired."));
    const auto notesOf = [&p](std::size_t run) { return p.page.lossPanel().chart().runs().at(run).notes; };
    QVERIFY(notesOf(1) == nullptr);
    {
        const auto recorder = RunRecorder::open(made.runs.at(1).path);
        QVERIFY(recorder.ok());
        (*recorder)->alarm({40, "headroom", "warning", "gate.mul", 0.75, 2, "mark"});
        (*recorder)->alarm({144, "headroom", "error", "gate.mul", -std::numeric_limits<double>::infinity(), 2, "mark"});
        QVERIFY((*recorder)->flush().ok());
    }
    p.page.showComparison(made.folder);
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("alarms (2)")), patience);
    QVERIFY(notesOf(0) == nullptr && notesOf(2) == nullptr);
    const std::vector<ChartNote>* marks = notesOf(1);
    QVERIFY(marks != nullptr);
    QCOMPARE(marks->size(), std::size_t{2});
    QCOMPARE(marks->at(0).step, std::int64_t{40});
    QVERIFY(!marks->at(0).isError && marks->at(1).isError);
    QVERIFY2(marks->at(0).text.startsWith("At step 40 the largest output of gate.mul was 0.75 bits below the end of its format (alarm below 2"),
             qPrintable(marks->at(0).text));
    QVERIFY2(marks->at(1).text.startsWith("At step 144 gate.mul held Inf"), qPrintable(marks->at(1).text));
    const QString told = list->text();
    QVERIFY2(told.contains("fp16") && told.indexOf("At step 144") < told.indexOf("At step 40"), qPrintable(told));  // newest first
    QVERIFY(told.contains("fp32_islands"));
    p.page.setLanguage("zh");
    QTRY_VERIFY(notesOf(1) != nullptr && !notesOf(1)->at(0).text.startsWith("At step"));
    p.page.showNothing();
}

QTEST_MAIN(TestLiveChecks)
#include "test_live_checks.moc"
