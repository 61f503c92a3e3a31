// The Live page on recordings: what must never be hidden, and that everything can be reached by keyboard.
#include <QAbstractButton>
#include <QButtonGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>
#include <QtTest>

#include "fixture_runs.h"
#include "record/comparison_record.h"
#include "record/meta_keys.h"
#include "support/temporary_folder.h"
#include "ui/charts/chart_card.h"
#include "ui/charts/step_range.h"
#include "ui/live/checks_panel.h"
#include "ui/live/headline_bar.h"
#include "ui/live/live_page.h"
#include "ui/live/loss_panel.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

constexpr int patience = 8000;

QString allText(const QWidget& widget) {
    QString text;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
        if (label->isVisibleTo(&widget)) {
            text += label->text() + QLatin1Char('\n');
        }
    }
    for (const QAbstractButton* button : widget.findChildren<QAbstractButton*>()) {
        if (button->isVisibleTo(&widget)) {
            text += button->text() + QLatin1Char('\n');
        }
    }
    return text;
}

struct Page {
    testing::TemporaryFolder folder;
    Theme theme;
    LivePage page{theme};

    Page() {
        theme.setChoice(Theme::Choice::Light);
        page.resize(1208, 738);
        page.show();
    }
    fixture::Comparison show(const fixture::Options& options) {
        fixture::Comparison made = fixture::writeComparison(folder.path(), options);
        page.showComparison(made.folder);
        return made;
    }
    [[nodiscard]] HeadlineBar& headline() { return *page.findChild<HeadlineBar*>(); }
    [[nodiscard]] bool has(const QString& text) { return allText(page).contains(text); }
};

fixture::Options over() {
    fixture::Options options;
    options.steps = options.planned;
    options.ended = true;
    return options;
}

}  // namespace

class TestLive : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void emptyPageOffersASample();
    void runningComparison();
    void endedComparisonSaysItsDecision();
    void whyOpensReasonsAndVerdicts();
    void unfairIsNeverHidden();
    void trialPhaseIsShown();
    void refusedTrialIsShown();
    void lostRunIsShown();
    void singleRunFromItsFolder();
    void fourChecksOpen();
    void checksFollowTheRun();
    void aModeThatNeverRanIsNotOn();
    void aContinuedRunShowsWhatCameBefore();
    void eachModeHasItsMenu();
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

void TestLive::fourChecksOpen() {
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

void TestLive::checksFollowTheRun() {
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

void TestLive::aModeThatNeverRanIsNotOn() {
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

void TestLive::aContinuedRunShowsWhatCameBefore() {
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
    QCOMPARE(chart.scene().lanes[1].name, QStringLiteral("bf16 before"));
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

void TestLive::eachModeHasItsMenu() {
    Page p;
    const fixture::Comparison made = p.show({});
    QTRY_VERIFY_WITH_TIMEOUT(p.has(QStringLiteral("240 / 300")), patience);
    QSignalSpy weights(&p.page, &LivePage::saveWeightsRequested), checkpoint(&p.page, &LivePage::checkpointRequested);
    auto* menu = p.page.findChild<QToolButton*>(QStringLiteral("modeMenu_bf16"))->menu();
    QCOMPARE(menu->actions().size(), 3);
    menu->actions().front()->trigger();
    QCOMPARE(weights.last().first().value<std::filesystem::path>(), made.runs.at(2).path);
    auto* button = p.page.findChild<QPushButton*>(QStringLiteral("checkpointRuns"));
    QVERIFY(button->isVisible());
    QVERIFY(!button->isEnabled());  // nobody listens to this made-up recording
    QVERIFY(!button->toolTip().isEmpty());
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
