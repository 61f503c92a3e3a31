// The ways to the page Replay and back: Live, Runs, the command, the command line; and from it to a run with the change that held.
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "desk.h"
#include "launch/run_parent.h"
#include "plan/plan_file.h"
#include "record/run_folder.h"
#include "tests/ui/fixture_checkpoints.h"
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
        QTRY_COMPARE(desk.window->findChild<QPushButton*>("applyBest")->text(), QStringLiteral("应用最佳改动，从第 65 步继续"));
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

    void theControlAloneIsRunAndThePageStays() {
        const QTemporaryDir folder;
        fixture::Options options;
        options.ended = true;
        options.fp16NanAt = fixture::badStep;
        options.modes = {Precision::Fp16};
        const auto made = fixture::writeComparison(folder.filePath("runs").toStdString(), options);
        const std::filesystem::path run = made.runs[0].path;
        std::filesystem::remove_all(made.folder);  // a run on its own
        fixture::writeIncident(run);
        qputenv("MANTISSA_PROGRAM", "/bin/true");  // no supervisor: what was prepared for it is looked at
        Desk desk(folder);
        QVERIFY(desk.window->replayDesk().open(run).ok());
        auto* control = desk.window->findChild<QPushButton*>("runControl");
        QTRY_VERIFY(control->isVisible());
        control->click();
        std::filesystem::path found;
        QTRY_VERIFY(!(found = find_control(run)).empty());
        const auto parent = read_parent(found);
        QVERIFY(parent.has_value());
        QCOMPARE(parent->purpose, std::string("control"));
        QCOMPARE(parent->run, run);
        const auto plan = read_plan_file(RunFolder{run}.plan()), own = read_plan_file(RunFolder{found}.plan());
        QVERIFY(plan.ok() && own.ok());
        QCOMPARE(own->plan.mixed_precision, Precision::No);
        QCOMPARE(own->plan.training.seed, plan->plan.training.seed);
        QTRY_VERIFY(!control->isVisible());  // it is there now: the step can be replayed
        QTRY_COMPARE(desk.window->findChild<QLabel*>("replayControl")->text(), QStringLiteral("control not there yet"));
        QVERIFY(desk.window->findChild<QPushButton*>("replayStep")->property("primary").toBool());
        QCOMPARE(desk.window->currentPage(), QStringLiteral("replay"));
        const auto folders = list_run_folders(run.parent_path());
        QVERIFY(folders.ok());
        QCOMPARE(folders->size(), std::size_t{2});  // the run and its control: fp16 wasn't trained again
        qunsetenv("MANTISSA_PROGRAM");
    }

    void appliedRunIsAChildThatGoesOnFromTheKeptState() {
        const QTemporaryDir folder;
        const auto made = ended(folder);
        const std::filesystem::path run = made.runs[1].path;
        const auto plan = read_plan_file(RunFolder{run}.plan());
        QVERIFY(plan.ok());
        const auto saved = fixture::writeCheckpoint(run, {fixture::badStep, Precision::Fp16, 16384, plan->plan});
        const auto state = incident_folder(run, fixture::badStep) / "state_65";
        std::filesystem::rename(saved, state);
        qputenv("MANTISSA_PROGRAM", "/bin/true");  // no supervisor: what was prepared for it is looked at
        Desk desk(folder);
        QVERIFY(desk.window->replayDesk().open(made.folder).ok());
        auto* apply = desk.window->findChild<QPushButton*>("applyBest");
        QTRY_VERIFY(apply->isVisible());
        QCOMPARE(apply->text(), QStringLiteral("Apply best and continue from step 65"));
        QSignalSpy failed(&desk.window->setupPage().starter(), &JobStarter::failed);
        apply->click();
        auto* question = desk.window->findChild<QMessageBox*>("applyQuestion");
        QVERIFY(question != nullptr);
        question->defaultButton()->click();
        QTRY_COMPARE(failed.count(), 1);
        const QString said = failed.first().first().toString();
        QVERIFY2(said.contains("gave no sign of life"), qPrintable(said));
        std::filesystem::path child;
        std::optional<RunParent> parent;
        for (const auto& entry : std::filesystem::directory_iterator(run.parent_path())) {
            if (auto found = read_parent(entry.path())) {
                child = entry.path();
                parent = std::move(found);
            }
        }
        QVERIFY(parent.has_value());
        QCOMPARE(parent->run, run);
        QCOMPARE(parent->purpose, std::string("fix"));
        QCOMPARE(parent->step, fixture::badStep);
        QCOMPARE(parent->change, std::string("island gate.mul"));
        const auto changed = read_plan_file(RunFolder{child}.plan());
        QVERIFY(changed.ok());
        QCOMPARE(changed->plan.fp32_islands, std::vector<std::string>{"gate.mul"});
        QCOMPARE(changed->plan.mixed_precision, Precision::Fp16);
        QCOMPARE(changed->plan.checkpoint.resume_from, state.string());
        QCOMPARE(changed->plan.training.max_steps, plan->plan.training.max_steps);
        qunsetenv("MANTISSA_PROGRAM");
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::ReplayWaysTest)
#include "replay_ways_test.moc"
