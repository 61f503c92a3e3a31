// The page Replay over real folders: what is shown when, the buttons, bad input, the keyboard.
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <fstream>

#include "tests/ui/fixture_replay.h"
#include "tests/ui/fixture_runs.h"
#include "ui/bridge/theme.h"
#include "ui/replay/evidence_panel.h"
#include "ui/replay/grown_chart.h"
#include "ui/replay/replay_page.h"
#include "ui/replay/step_ops_model.h"
#include "ui/replay/what_if_dialog.h"
#include "ui/replay/what_if_model.h"

namespace mantissa::ui {

namespace fs = std::filesystem;

class ReplayPageTest : public QObject {
    Q_OBJECT

    /// A comparison on the disk and the page on its fp16 run.
    struct Stage {
        explicit Stage(bool isComparison = true) {
            fixture::Options options;
            options.ended = true;
            options.fp16NanAt = fixture::badStep;
            options.modes = isComparison ? std::vector{Precision::No, Precision::Fp16} : std::vector{Precision::Fp16};
            made = fixture::writeComparison(folder.filePath("runs").toStdString(), options);
            if (!isComparison) {  // a run on its own
                fs::remove_all(made.folder);
            }
            run = made.runs.back().path;
            theme.setChoice(Theme::Choice::Dark);
            theme.apply();
            page = std::make_unique<ReplayPage>(theme);
            page->resize(1190, 740);
            page->show();
        }
        void open() { page->showStep(run, fixture::badStep); }
        [[nodiscard]] QPushButton* button(const char* name) const { return page->findChild<QPushButton*>(name); }
        [[nodiscard]] QString label(const char* name) const { return page->findChild<QLabel*>(name)->text(); }
        [[nodiscard]] bool isMain(const char* name) const { return button(name)->isVisible() && button(name)->property("primary").toBool(); }
        QTemporaryDir folder;
        fixture::Comparison made;
        fs::path run;
        Theme theme;
        std::unique_ptr<ReplayPage> page;
    };

  private Q_SLOTS:
    void anIncidentAloneAsksForItsReplay() {
        Stage stage;
        fixture::writeIncident(stage.run);
        stage.open();
        QTRY_COMPARE(stage.label("replaySentence"), QStringLiteral("gate.mul made +Inf from finite inputs: 308 × 231 = 71,148 > 65,504"));
        QTRY_COMPARE(stage.label("replayControl"), QStringLiteral("control finite ✓"));
        QVERIFY(stage.isMain("replayStep"));
        QVERIFY(!stage.button("applyBest")->isVisible());
        QVERIFY(!stage.page->findChild<QTableView*>("whatIfGrid")->isVisible());
        QVERIFY(stage.page->findChild<QTableView*>("stepOps")->isVisible());
        QCOMPARE(stage.page->evidence().chart().values().largest.size(), std::size_t{65});
        QCOMPARE(stage.page->view().title, QStringLiteral("Why did fp16 stop?"));
    }

    void aRunWithoutControlOffersItFirst() {
        Stage stage(false);
        fixture::writeIncident(stage.run);
        stage.open();
        QTRY_VERIFY(stage.isMain("runControl"));
        QVERIFY(stage.button("replayStep")->isVisible());
        QVERIFY(!stage.button("replayStep")->property("primary").toBool());
        QCOMPARE(stage.label("replayControl"), QStringLiteral("no control run"));
        const QSignalSpy wanted(stage.page.get(), &ReplayPage::controlRequested);
        stage.button("runControl")->click();
        QCOMPARE(wanted.count(), 1);
    }

    void theGridFillsInAndTheBestCanBeApplied() {
        Stage stage;
        fixture::writeIncident(stage.run);
        fs::create_directories(incident_folder(stage.run, fixture::badStep) / "state_65");
        fixture::writeReplay(stage.run, fixture::gateReplay(stage.run));
        stage.open();
        QTRY_VERIFY(stage.isMain("applyBest"));
        QCOMPARE(stage.button("applyBest")->text(), QStringLiteral("Apply best and continue from step 65"));
        auto* table = stage.page->findChild<QTableView*>("whatIfGrid");
        QVERIFY(table->isVisible());
        QCOMPARE(table->model()->rowCount(), 7);
        QCOMPARE(stage.label("replayReproduced"), QStringLiteral("reproduced: same bits ✓"));
        QCOMPARE(stage.label("replayPlace"), QStringLiteral("fp16 · step 65 · forward"));
        QVERIFY(stage.label("furtherTensors").startsWith(QStringLiteral("212 more")));
        const QSignalSpy wanted(stage.page.get(), &ReplayPage::applyRequested);
        stage.button("applyBest")->click();
        QCOMPARE(wanted.count(), 1);
        stage.button("copyText")->click();
        const QString copied = QGuiApplication::clipboard()->text();
        for (const char* part : {"Why did fp16 stop?", "308 × 231", "fp16, gate.mul in fp32: ✓ finite, ✓ held ← best", "the batch before: ✓ finite, ✗ bad at +2"}) {
            QVERIFY2(copied.contains(QString::fromUtf8(part)), qPrintable(copied));
        }
    }

    void notReproducedIsOneLineWithoutAGrid() {
        Stage stage;
        ReplayReport report = fixture::gateReplay(stage.run);
        report.reproduced = Reproduced::No;
        report.reproduced_reason = "the CPU's instruction set is AVX2 here, AVX512 there";
        fixture::writeIncident(stage.run);
        fixture::writeReplay(stage.run, report);
        stage.open();
        QTRY_COMPARE(stage.label("replaySentence"), QStringLiteral("Not reproduced: the CPU's instruction set is AVX2 here, AVX512 there."));
        QVERIFY(!stage.page->findChild<QTableView*>("whatIfGrid")->isVisible());
        QVERIFY(!stage.page->findChild<QLabel*>("replayNext")->isVisible());
        QVERIFY(!stage.page->findChild<QTableView*>("stepOps")->isVisible());
    }

    void badInputIsASentence() {
        Stage stage;
        fs::create_directories(incident_folder(stage.run, fixture::badStep));
        std::ofstream(incident_folder(stage.run, fixture::badStep) / "incident.json") << "[1, 2";
        stage.open();
        QTRY_VERIFY2(stage.label("replayNext").contains("incident.json"), qPrintable(stage.label("replayNext")));
        QVERIFY(stage.isMain("replayStep"));  // a replay finds the place anew
        fs::remove_all(stage.run);
        QTRY_VERIFY2(stage.label("replaySentence").contains("no folder"), qPrintable(stage.label("replaySentence")));
        for (const char* name : {"replayStep", "applyBest", "whatIf", "saveBundle"}) {
            QVERIFY2(!stage.button(name)->isVisible(), name);
        }
    }

    void keptStatesAreFreedAfterAQuestion() {
        Stage stage;
        fixture::writeIncident(stage.run);
        const fs::path state = incident_folder(stage.run, fixture::badStep) / "state_65";
        fs::create_directories(state);
        std::ofstream(state / "model.safetensors") << std::string(2'400'000, 'w');
        stage.open();
        QTRY_COMPARE(stage.label("keptStates"), QStringLiteral("Kept states: after 65 steps · 2.40 MB"));
        stage.button("freeStates")->click();
        auto* question = stage.page->findChild<QMessageBox*>("freeQuestion");
        QVERIFY(question != nullptr && question->text().contains("2.40 MB"));
        QVERIFY2(question->informativeText().startsWith("after 65 steps: 2.40 MB"), qPrintable(question->informativeText()));
        QVERIFY(fs::exists(state));  // only asked so far
        for (QAbstractButton* button : question->buttons()) {
            if (question->buttonRole(button) == QMessageBox::DestructiveRole) {
                button->click();
            }
        }
        QTRY_VERIFY(!fs::exists(state));
        QTRY_COMPARE(stage.label("keptStates"), QStringLiteral("The kept states were deleted: a replay runs forward from the seed."));
        QVERIFY(!stage.button("freeStates")->isVisible());
    }

    void whatIfHandsOnOnlyWhatDiffers() {
        RunPlan plan;
        plan.mixed_precision = Precision::Fp16;
        plan.training.optimizer.learning_rate = 3e-3;
        WhatIfDialog dialog(plan, 65, "gate.mul");
        auto* go = dialog.findChild<QPushButton*>("tryIt");
        QVERIFY(dialog.settings().empty());
        QVERIFY(!go->isEnabled());
        dialog.findChild<QLineEdit*>("training.optimizer.learning_rate")->setText("0.0015");
        dialog.findChild<QLineEdit*>("fp32_islands")->setText("gate.mul");
        QCOMPARE(dialog.settings(), (std::vector<std::string>{"training.optimizer.learning_rate=0.0015", "fp32_islands=gate.mul"}));
        dialog.findChild<QComboBox*>("mixed_precision")->setCurrentText("bf16");
        QCOMPARE(dialog.settings().front(), std::string("mixed_precision=bf16"));
        QVERIFY(go->isEnabled());
        dialog.findChild<QLineEdit*>("training.optimizer.learning_rate")->setText("-1");
        QVERIFY(dialog.problem().contains("learning_rate"));
        QVERIFY(!go->isEnabled());
        dialog.findChild<QLineEdit*>("training.optimizer.learning_rate")->setText("0.003");
        const QSignalSpy chosen(&dialog, &WhatIfDialog::chosen);
        go->click();
        QCOMPARE(chosen.count(), 1);
    }

    void chartAndTwinAreReachedByKeyboard() {
        Stage stage;
        fixture::writeIncident(stage.run);
        fixture::writeReplay(stage.run, fixture::gateReplay(stage.run));
        stage.open();
        GrownChart& chart = stage.page->evidence().chart();
        QTRY_COMPARE(chart.values().largest.size(), std::size_t{65});
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_Left);
        QCOMPARE(chart.cursor(), 64);
        QTest::keyClick(&chart, Qt::Key_Left);
        QCOMPARE(chart.cursor(), 63);
        QVERIFY2(chart.accessibleName().contains("step 63"), qPrintable(chart.accessibleName()));
        QTest::keyClick(&chart, Qt::Key_Home);
        QCOMPARE(chart.cursor(), 0);
        auto* twin = stage.page->findChild<QToolButton*>("grownTwin");
        twin->setFocus();
        QTest::keyClick(twin, Qt::Key_Space);
        QVERIFY(stage.page->findChild<QTableView*>("grownTable")->isVisible());
        // From the first control on, Tab comes to every button and both tables.
        stage.page->findChild<QToolButton*>("replayBack")->setFocus();
        QStringList met;
        for (int i = 0; i < 14; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            met << QApplication::focusWidget()->objectName();
        }
        for (const char* name : {"applyBest", "replayStep", "whatIf", "saveBundle", "copyText", "whatIfGrid", "stepOps", "grownTwin"}) {
            QVERIFY2(met.contains(QLatin1String(name)), name);
        }
    }

    void limitAndBirthAreWhereTheyBelong() {
        Stage stage;
        GrownChart chart(stage.theme);
        ReplaySnapshot snapshot;
        snapshot.replay = fixture::gateReplay(stage.run);
        chart.resize(600, 200);
        chart.setValues(grownValues(snapshot, 65), Precision::Fp16);
        QVERIFY(chart.pointOf(0, 65'504).y() < chart.pointOf(0, 32'752).y());
        QVERIFY(chart.pointOf(0, 65'504).y() > 0);
        const double first = chart.pointOf(0, 0).x(), last = chart.pointOf(65, 0).x(), middle = chart.pointOf(32.5, 0).x();
        QVERIFY(std::abs(middle - (first + last) / 2) < 0.01);
        QVERIFY(last < 600);
        // Values far below the limit get an axis of their own.
        for (StepValue& value : snapshot.replay->producer_largest) {
            value.value /= 1000;
        }
        chart.setValues(grownValues(snapshot, 65), Precision::Fp16);
        QCOMPARE(chart.values().limit, 0.0);
        QVERIFY(chart.pointOf(64, snapshot.replay->producer_largest.back().value).y() < 100);
        QVERIFY(!chart.grab().isNull());
    }

    void fitsSmallScreensInBothThemes() {
        Stage stage;
        fixture::writeIncident(stage.run);
        fixture::writeReplay(stage.run, fixture::gateReplay(stage.run));
        stage.open();
        QTRY_VERIFY(stage.page->findChild<QTableView*>("whatIfGrid")->isVisible());
        for (const Theme::Choice choice : {Theme::Choice::Dark, Theme::Choice::Light}) {
            stage.theme.setChoice(choice);
            stage.page->resize(952, 534);  // 1024×600 without rail, bar and strip
            QTest::qWait(10);
            QVERIFY2(stage.page->minimumSizeHint().width() <= 952, qPrintable(QString::number(stage.page->minimumSizeHint().width())));
            QVERIFY2(stage.page->minimumSizeHint().height() <= 534, qPrintable(QString::number(stage.page->minimumSizeHint().height())));
            QVERIFY(!stage.page->grab().isNull());
            // All lines of the grid and the birth are in view, and nothing scrolls.
            QCOMPARE(stage.page->findChild<QScrollArea*>()->verticalScrollBar()->maximum(), 0);
            const auto* grid = stage.page->findChild<QTableView*>("whatIfGrid");
            QVERIFY2(grid->viewport()->height() >= grid->verticalHeader()->length(), qPrintable(QString::number(grid->viewport()->height())));
            const auto* ops = stage.page->findChild<QTableView*>("stepOps");
            const QRect birth = ops->visualRect(stage.page->evidence().ops().index(stage.page->evidence().ops().birthRow(), 0));
            QVERIFY(ops->viewport()->rect().contains(birth.topLeft()) && ops->viewport()->rect().contains(birth.bottomLeft()));
        }
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::ReplayPageTest)
#include "test_replay_page.moc"
