// Where? = join a launcher: the lines of a saved plan, and the wait for the run that they make.
#include "ui/setup/join_card.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "fake_machine.h"
#include "launch/job.h"
#include "plan/plan_file.h"
#include "ui/bridge/theme.h"
#include "ui/setup/setup_page.h"

namespace mantissa::ui {

class JoinCardTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    QTemporaryDir m_runs;

  private Q_SLOTS:
    // Nothing starts here: the lines do, and the page waits for what they make.
    void joinShowsLinesOfASavedPlanAndWaitsForTheRun() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, {m_runs.path().toStdString(), MANTISSA_RESOURCES_DIR "/presets", machine.places(), trials.starter()});
        const auto* compare = page.findChild<QPushButton*>("compareButton");
        QVERIFY(page.startFrom("digits-mlp").ok());
        auto* card = page.findChild<JoinCard*>();
        QVERIFY(card->isHidden());
        QVERIFY(page.editor().edit("launch.scope", "join"));
        QVERIFY(!card->isHidden());
        QVERIFY(compare->isHidden());
        QVERIFY(page.findChild<QWidget*>("whereRow")->findChild<QLabel*>("answer")->text().contains("launcher"));
        page.findChild<QComboBox*>("joinMode")->setCurrentText("fp16");
        QTRY_VERIFY(!card->planFile().empty());
        const auto first = card->planFile();
        const auto saved = read_plan_file(first);
        QVERIFY(saved.ok());
        QCOMPARE(saved->plan.mixed_precision, Precision::Fp16);
        QVERIFY(saved->plan.launch.scope == LaunchScope::Join);
        page.findChild<QSpinBox*>("joinProcesses")->setValue(4);
        const auto* slurm = page.findChild<QPlainTextEdit*>("lines_Slurm");
        QVERIFY2(slurm->toPlainText().contains("#SBATCH --ntasks-per-node=4\n"), qPrintable(slurm->toPlainText()));
        QVERIFY(slurm->toPlainText().contains("#SBATCH --signal=USR1@60\n"));
        QVERIFY(slurm->toPlainText().contains(QString::fromStdString(first.string())));
        QVERIFY(card->lines(RankLauncher::OpenMpi).startsWith("mpirun -n 4 "));
        page.findChild<QPushButton*>("copy_torchrun")->click();
        QCOMPARE(QApplication::clipboard()->text(), card->lines(RankLauncher::Torchrun));
        // A plan that a queued job will read one day is never changed: an edit has a file of its own.
        QVERIFY(page.editor().edit("training.seed", "4711"));
        QTRY_VERIFY(card->planFile() != first);
        QCOMPARE(read_plan_file(first)->plan.training.seed, saved->plan.training.seed);
        // Somebody else's run is none of ours; the launch's own opens.
        QSignalSpy joined(&page, &SetupPage::joined);
        SourcedPlan other = *read_plan_file(card->planFile());
        other.plan.launch.scope = LaunchScope::Process;
        QVERIFY(prepare_job(JobKind::SingleRun, other, page.runsFolder()).ok());
        const auto job = prepare_job(JobKind::SingleRun, *read_plan_file(card->planFile()), page.runsFolder());
        QVERIFY(job.ok());
        QTRY_COMPARE(joined.count(), 1);
        QCOMPARE(joined[0][0].value<std::filesystem::path>(), job->folder);
        QVERIFY(page.editor().edit("launch.scope", "process"));
        QVERIFY(card->isHidden() && !compare->isHidden());
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::JoinCardTest)
#include "join_card_test.moc"
