// The ways to the page Replay and back: Live, Runs, the command, the command line; and from it to a run with the change that held.
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "desk.h"
#include "tests/ui/fixture_replay.h"
#include "tests/ui/fixture_runs.h"
#include "ui/live/live_page.h"
#include "ui/replay/replay_page.h"
#include "ui/runs/runs_page.h"
#include "ui/shell/replay_desk.h"
#include "ui/shell/screenshot.h"

namespace mantissa::ui {

class ReplayWaysTest : public QObject {
    Q_OBJECT

    static fixture::Comparison ended(const QTemporaryDir& folder) {
        fixture::Options options;
        options.ended = true;
        options.fp16NanAt = fixture::badStep;
        fixture::Comparison made = fixture::writeComparison(folder.filePath("runs").toStdString(), options);
        fixture::writeIncident(made.runs[1].path);
        fixture::writeReplay(made.runs[1].path, fixture::gateReplay(made.runs[1].path));
        return made;
    }

  private Q_SLOTS:
    void initTestCase() { loadResources(); }

    void liveAsksWhyAndBackReturns() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        Desk desk(folder);
        desk.window->openFolder(made.folder);
        auto* why = desk.window->findChild<QPushButton*>("whyStopped");
        QTRY_VERIFY(why->isVisible());
        QCOMPARE(why->text(), QStringLiteral("Why did fp16 stop?"));
        why->click();
        QCOMPARE(desk.window->currentPage(), QStringLiteral("replay"));
        QVERIFY(desk.rail("live")->isChecked());
        QTRY_COMPARE(desk.window->windowTitle(), QStringLiteral("Why did fp16 stop? – Mantissa"));
        QTRY_VERIFY(desk.window->findChild<QLabel*>("replaySentence")->text().contains(QStringLiteral("308 × 231")));
        desk.window->catalog().action("view.back")->trigger();
        QCOMPARE(desk.window->currentPage(), QStringLiteral("live"));
        desk.window->catalog().action("view.language")->trigger();
        desk.window->catalog().action("run.replay")->trigger();
        QTRY_COMPARE(desk.window->findChild<QPushButton*>("applyBest")->text(), QStringLiteral("应用最佳改动，从第 0 步重新开始"));
        desk.window->catalog().action("view.language")->trigger();
    }

    void runsLeadThereToo() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        fixture::Options healthy;
        healthy.ended = true;
        healthy.fp16NanAt.reset();
        Desk desk(folder);
        QVERIFY(!desk.window->catalog().action("run.replay")->isEnabled());
        desk.window->showPage("runs");
        RunsPage& runs = desk.window->runsPage();
        QTRY_COMPARE(runs.model().rowCount(), 1);
        QTRY_VERIFY(desk.window->catalog().action("run.replay")->isEnabled());
        auto* why = desk.window->findChild<QToolButton*>("why_fp16");
        QVERIFY(why != nullptr && why->isVisible());
        QVERIFY(!desk.window->findChild<QToolButton*>("why_no")->isVisible());
        why->click();
        QCOMPARE(desk.window->currentPage(), QStringLiteral("replay"));
        QCOMPARE(desk.window->replayDesk().page().follower()->run(), made.runs[1].path);
        QCOMPARE(desk.window->replayDesk().page().follower()->step(), fixture::badStep);
        desk.window->findChild<QToolButton*>("replayBack")->click();
        QCOMPARE(desk.window->currentPage(), QStringLiteral("runs"));
    }

    void commandLineOpensAStep() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        Desk desk(folder);
        const auto options = WindowOptions::parse({"--page", "replay", "--open", QString::fromStdString(made.folder.string())});
        QVERIFY(options.ok());
        QVERIFY(desk.window->follow(*options).ok());
        QCOMPARE(desk.window->currentPage(), QStringLiteral("replay"));
        QCOMPARE(desk.window->replayDesk().page().follower()->step(), fixture::badStep);
        const auto step = WindowOptions::parse({"--page=replay", "--step=12", "--open", QString::fromStdString(made.runs[0].path.string())});
        QVERIFY(step.ok());
        QVERIFY(desk.window->follow(*step).ok());
        QCOMPARE(desk.window->replayDesk().page().follower()->step(), std::int64_t{12});
        QVERIFY(!WindowOptions::parse({"--step", "minus"}).ok());
        const auto healthy = WindowOptions::parse({"--page=replay", "--open", QString::fromStdString(made.runs[0].path.string())});
        QVERIFY(!desk.window->follow(*healthy).ok());
    }

    void applyingAsksWithWhatChanges() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        Desk desk(folder);
        QVERIFY(desk.window->replayDesk().open(made.folder).ok());
        auto* apply = desk.window->findChild<QPushButton*>("applyBest");
        QTRY_VERIFY(apply->isVisible());
        apply->click();
        auto* question = desk.window->findChild<QMessageBox*>("applyQuestion");
        QVERIFY(question != nullptr);
        QVERIFY2(question->text().contains("gate.mul in fp32"), qPrintable(question->text()));
        QVERIFY2(question->informativeText().contains("0") && question->informativeText().contains("300"), qPrintable(question->informativeText()));
        question->reject();
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::ReplayWaysTest)
#include "replay_ways_test.moc"
