// Weights saved, runs continued: from the run that Live shows, or the one chosen on Runs.
#include "ui/shell/run_keeper.h"

#include <QFileDialog>
#include <QMenu>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "desk.h"
#include "fixture_checkpoints.h"
#include "fixture_runs.h"
#include "ui/live/live_page.h"
#include "ui/runs/continue_dialog.h"
#include "ui/runs/runs_page.h"
#include "ui/shell/screenshot.h"

namespace mantissa::ui {

class RunKeeperTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { loadResources(); }  // plurals are in the program's own translations

    void weightsAreSavedOrTheReasonIsSaid() {
        const QTemporaryDir folder;
        Desk desk(folder);
        fixture::Options ended;
        ended.ended = true;
        const fixture::Comparison made = fixture::writeComparison(folder.filePath("runs").toStdString(), ended);
        auto* keeper = desk.window->findChild<RunKeeper*>();
        QVERIFY(!desk.window->catalog().action("run.continue")->isEnabled());  // nothing is shown
        desk.window->openFolder(made.folder);
        QTRY_VERIFY(desk.window->catalog().action("run.continue")->isEnabled());
        QVERIFY(!desk.window->catalog().action("run.checkpoint")->isEnabled());  // over
        keeper->saveWeights(made.runs.at(1).path);
        auto* box = desk.window->findChild<QMessageBox*>("keeperBox");
        QVERIFY(box != nullptr);
        QVERIFY2(box->text().contains("gated-overflow · fp16 has saved no checkpoint"), qPrintable(box->text()));
        QVERIFY(box->informativeText().contains("Save at the end"));
        delete box;
        fixture::writeCheckpoint(made.runs.at(1).path);
        QSignalSpy written(keeper, &RunKeeper::weightsWritten);
        const QString file = folder.filePath("weights.safetensors");
        keeper->saveWeightsTo(made.runs.at(1).path, file.toStdString());
        QTRY_COMPARE(written.count(), 1);
        QVERIFY(QFile::exists(file));
        box = desk.window->findChild<QMessageBox*>("keeperBox");
        QVERIFY2(box->text().contains("2 tensors") && box->text().contains("of fp16 after step 300"), qPrintable(box->text()));
        QVERIFY(box->informativeText().contains("safetensors.torch.load_file(\"" + file + "\")"));
        delete box;
        keeper->saveWeights(made.runs.at(1).path);
        auto* dialog = desk.window->findChild<QFileDialog*>("saveWeightsDialog");
        QVERIFY(dialog != nullptr);
        QVERIFY2(dialog->selectedFiles().value(0).endsWith("gated-overflow-fp16.safetensors"), qPrintable(dialog->selectedFiles().join(' ')));
        delete dialog;
    }

    void whichRunIsAskedWhenThereAreSeveral() {
        const QTemporaryDir folder;
        Desk desk(folder);
        fixture::Options ended;
        ended.ended = true;
        const fixture::Comparison made = fixture::writeComparison(folder.filePath("runs").toStdString(), ended);
        fixture::writeCheckpoint(made.runs.at(2).path, {300, Precision::Bf16, 0, {}});
        desk.window->openFolder(made.folder);
        QTRY_VERIFY(desk.window->catalog().action("run.continue")->isEnabled());
        QTRY_COMPARE(desk.window->findChild<LivePage*>()->shownRuns().size(), std::size_t{3});
        desk.window->catalog().action("run.continue")->trigger();
        auto* menu = desk.window->findChild<QMenu*>("whichRun");
        QVERIFY(menu != nullptr);
        QCOMPARE(menu->actions().size(), 4);  // a title and three modes
        menu->actions().at(3)->trigger();
        menu->close();
        auto* dialog = desk.window->findChild<ContinueDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QCOMPARE(dialog->checkpoint().mode, Precision::Bf16);
        delete dialog;
    }

    void onRunsTheChosenRunIsMeantThoughLiveIsEmpty() {
        const QTemporaryDir folder;
        Desk desk(folder);
        fixture::Options ended;
        ended.ended = true;
        const fixture::Comparison made = fixture::writeComparison(folder.filePath("runs").toStdString(), ended);
        fixture::writeCheckpoint(made.runs.at(2).path, {300, Precision::Bf16, 0, {}});
        QAction* go = desk.window->catalog().action("run.continue");
        QVERIFY(!go->isEnabled());
        desk.window->showPage("runs");
        auto* runs = desk.window->findChild<RunsPage*>();
        runs->refresh();
        QTRY_COMPARE(runs->table().model()->rowCount(), 1);
        runs->table().selectRow(0);
        QTRY_VERIFY(go->isEnabled());
        QVERIFY(desk.window->catalog().action("run.save_weights")->isEnabled());
        QVERIFY(!desk.window->catalog().action("run.checkpoint")->isEnabled());  // nothing is going in Live
        QCOMPARE(runs->chosenRuns().size(), std::size_t{3});
        go->trigger();
        auto* menu = desk.window->findChild<QMenu*>("whichRun");
        QVERIFY(menu != nullptr);
        menu->actions().at(3)->trigger();
        menu->close();
        auto* dialog = desk.window->findChild<ContinueDialog*>();
        QVERIFY(dialog != nullptr && dialog->isVisible());
        QCOMPARE(dialog->checkpoint().step, std::int64_t{300});
        delete dialog;
        desk.window->showPage("setup");
        QTRY_VERIFY(!go->isEnabled());  // Runs is out of sight again
        QVERIFY(runs->chosenRuns().empty());
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::RunKeeperTest)
#include "run_keeper_test.moc"
