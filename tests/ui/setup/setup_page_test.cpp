// Set up as a person meets it: this machine's answers, the trial, the button and why it can't be pressed, and
// that it fits.
#include "ui/setup/setup_page.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "fake_machine.h"
#include "ui/bridge/theme.h"
#include "plan/plan_fields.h"
#include "ui/setup/caption_button.h"
#include "ui/setup/config_line.h"
#include "ui/setup/field_labels.h"
#include "ui/setup/overruled_line.h"
#include "ui/setup/sections.h"
#include "ui/shell/window_style.h"

namespace mantissa::ui {

class SetupPageTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    QTemporaryDir m_runs;

    SetupOptions options(const fake::Machine& machine, fake::Trials& trials) const {
        return {m_runs.path().toStdString(), MANTISSA_RESOURCES_DIR "/presets", machine.places(),
                trials.starter()};
    }
    static QString answer(const SetupPage& page, const char* row) {
        return page.findChild<QWidget*>(QLatin1String(row))->findChild<QLabel*>("answer")->text();
    }
    static QPushButton* compare(const SetupPage& page) {
        return page.findChild<QPushButton*>("compareButton");
    }
    static CaptionButton* chip(const SetupPage& page, const char* mode) {
        return page.findChild<CaptionButton*>(QLatin1String("mode.") + QLatin1String(mode));
    }

  private Q_SLOTS:
    void initTestCase() {
        m_theme.setChoice(Theme::Choice::Light);
        m_theme.apply();
        qApp->setStyleSheet(qApp->styleSheet() + windowStyle(m_theme.colours()));
    }

    void machineAnswersBesideTheQuestions() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-cnn").ok());
        QTRY_COMPARE(page.probe().state(), MachineProbe::State::Known);
        QVERIFY2(answer(page, "whatRow").startsWith("1,437 training and 360 validation samples"),
                 qPrintable(answer(page, "whatRow")));
        QVERIFY(answer(page, "modesRow").contains("8.9"));
        QVERIFY(!chip(page, "fp8")->isEnabled());
        QVERIFY(chip(page, "fp16")->isChecked());
        QCOMPARE(chip(page, "fp16")->accessibleDescription(), QStringLiteral("emulated"));
        QVERIFY(page.findChild<QPushButton*>("deviceButton")->text().contains("AMD EPYC"));
        QCOMPARE(compare(page)->text(), QStringLiteral("Compare no / fp16 / bf16"));
        QVERIFY(compare(page)->isEnabled());
    }

    void fp8IsOfferedOnACpuOnlyWhereEmulationIsAllowed() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-bright").ok());
        QTRY_COMPARE(page.probe().state(), MachineProbe::State::Known);
        QVERIFY(!chip(page, "fp8")->isEnabled());
        QVERIFY(page.editor().edit("allow_emulated", "true"));
        QVERIFY(chip(page, "fp8")->isEnabled());
        QCOMPARE(chip(page, "fp8")->accessibleDescription(), QStringLiteral("emulated"));
        QVERIFY2(!answer(page, "modesRow").contains("8.9"), qPrintable(answer(page, "modesRow")));
        QTest::mouseClick(chip(page, "fp8"), Qt::LeftButton);
        QCOMPARE(compare(page)->text(), QStringLiteral("Compare no / fp16 / bf16 / fp8"));
    }

    void trialRunsOncePerModeAndIsRemembered() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("gated-overflow").ok());
        QTRY_COMPARE(page.trial().stepMsOfAllModes().value_or(0), 5.1 + 7.9 + 6.8);
        QCOMPARE(trials.started, 3);
        QVERIFY(page.editor().edit("training.max_steps", "200"));  // no matter to a trial of one batch
        QVERIFY(page.editor().edit("evaluation.every", "10"));
        QTest::qWait(700);
        QCOMPARE(trials.started, 3);
        QVERIFY(page.editor().edit("training.batch_size", "64"));
        QTRY_COMPARE(trials.started, 6);
        page.editor().undoStack().undo();
        QTest::qWait(700);
        QCOMPARE(trials.started, 6);  // this plan was tried before
    }

    void refusingModeKeepsTheComparisonFromStarting() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        trials.answers[Precision::Fp16].runs = false;
        trials.answers[Precision::Fp16].refusal = "aten::foo has no fp16 kernel on this CPU";
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-mlp").ok());
        QTRY_VERIFY(!compare(page)->isEnabled() && compare(page)->toolTip().contains("fp16"));
        QTest::mouseClick(chip(page, "fp16"), Qt::LeftButton);
        QVERIFY(compare(page)->isEnabled());
        QCOMPARE(compare(page)->text(), QStringLiteral("Compare no / bf16"));
    }

    void controlCannotBeTakenAway() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-mlp").ok());
        QTest::mouseClick(chip(page, "no"), Qt::LeftButton);
        QVERIFY(chip(page, "no")->isChecked());
        QCOMPARE(page.editor().plan().modes.front(), Precision::No);
    }

    void threadScopeRefusesComparisonWithTheReason() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-mlp").ok());
        QTRY_COMPARE(page.probe().state(), MachineProbe::State::Known);
        QVERIFY(page.editor().edit("launch.scope", "thread"));
        QVERIFY(!compare(page)->isEnabled());
        QVERIFY(compare(page)->toolTip().contains("fresh process"));
        QVERIFY(page.findChild<QPushButton*>("oneModeButton")->isEnabled());
    }

    void missingEngineIsSaidAndPickedUpWhenItAppears() {
        fake::Machine machine(fake::Machine::answering(fake::cpuReport()), false);
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QCOMPARE(page.probe().state(), MachineProbe::State::NoEngine);
        QVERIFY(!compare(page)->isEnabled());
        QCOMPARE(trials.started, 0);
        machine.makeEngine();
        QTRY_COMPARE_WITH_TIMEOUT(page.probe().state(), MachineProbe::State::Known, 10'000);
        QVERIFY(compare(page)->isEnabled());
    }

    void brokenProbeIsASentence() {
        const fake::Machine machine("echo 'libtorch_cpu.so: cannot open shared object file' >&2; exit 1");
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QTRY_COMPARE(page.probe().state(), MachineProbe::State::Failed);
        QVERIFY(answer(page, "whereRow").contains("libtorch_cpu.so"));
    }

    void planFilesAreRefusedWithTheirFault() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QFile file(m_runs.filePath("plan.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"model": "mlp", "training": {"batch_sise": 3}})");
        file.close();
        const RunPlan before = page.editor().plan();
        const auto opened = page.files().openPlanFile(file.fileName().toStdString());
        QVERIFY(!opened.ok());
        QVERIFY2(opened.error().message.find("batch_sise") != std::string::npos,
                 opened.error().message.c_str());
        QVERIFY(page.editor().plan() == before);
    }

    void runsFolderThatCannotBeWrittenIsSaidBesideTheButton() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupOptions setup = options(machine, trials);
        QFile file(m_runs.filePath("a-file"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        setup.runs = (file.fileName() + "/runs").toStdString();
        SetupPage page(m_theme, setup);
        QVERIFY(page.startFrom("digits-mlp").ok());
        QTRY_VERIFY(compare(page)->isEnabled());
        QSignalSpy started(&page, &SetupPage::started);
        QTest::mouseClick(compare(page), Qt::LeftButton);
        const auto* problem = page.findChild<QLabel*>("problem");
        QTRY_VERIFY2(problem->text().contains("a-file"), qPrintable(problem->text()));
        QCOMPARE(started.count(), 0);
        QVERIFY(compare(page)->isEnabled());  // to try again
        QVERIFY(page.editor().edit("training.seed", "5"));
        QVERIFY(problem->text().isEmpty());
    }

    void sectionsOpenAndFollowTheChosenOptimizer() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-mlp").ok());
        page.resize(1000, 700);
        page.show();
        auto* head = page.findChild<CaptionButton*>("section.training");
        auto* momentum = page.findChild<QWidget*>("training.optimizer.momentum");
        auto* beta = page.findChild<QWidget*>("training.optimizer.beta1");
        QVERIFY(!beta->isVisible());
        QTest::mouseClick(head, Qt::LeftButton);
        QVERIFY(beta->isVisible());
        QVERIFY(!momentum->isVisible());
        QVERIFY(page.editor().edit("training.optimizer.name", "sgd"));
        QVERIFY(momentum->isVisible());
        QVERIFY(!beta->isVisible());
        QVERIFY(head->accessibleDescription().startsWith("SGD"));
        QTest::mouseClick(head, Qt::LeftButton);
        QVERIFY(!momentum->isVisible());
    }

    void fitsSmallWindowsWithoutScrolling_data() {
        QTest::addColumn<QString>("preset");
        QTest::newRow("cnn") << "digits-cnn";
        QTest::newRow("gated") << "gated-overflow";
        QTest::newRow("cancer") << "cancer-overflow";
        QTest::newRow("bright") << "digits-bright";
    }
    void fitsSmallWindowsWithoutScrolling() {
        QFETCH(QString, preset);
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom(preset.toStdString()).ok());
        page.resize(1024 - 72, 600 - 39 - 24);
        page.show();
        QTRY_VERIFY(page.trial().stepMsOfAllModes().has_value());
        QTest::qWait(50);
        const auto* scroll = page.findChild<QScrollArea*>("setupScroll");
        QCOMPARE(scroll->verticalScrollBar()->maximum(), 0);
        QVERIFY(scroll->widget()->minimumSizeHint().width() <= scroll->viewport()->width());
        QVERIFY(page.minimumSizeHint().width() <= page.width());
    }

    static std::filesystem::path writeFile(const QTemporaryDir& folder, const char* name, const char* text) {
        QFile file(folder.filePath(QLatin1String(name)));
        [[maybe_unused]] const bool isOpen = file.open(QIODevice::WriteOnly);
        file.write(text);
        return file.fileName().toStdString();
    }

    void acceleratesFileIsASourceOfItsOwn() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-cnn").ok());
        const auto* line = page.findChild<ConfigLine*>();
        QVERIFY(line->isHidden());
        const auto file = writeFile(m_runs, "accelerate.yaml",
                                    "mixed_precision: fp16\nuse_cpu: true\ngradient_accumulation_steps: 4\nmain_process_port: 29500\n");
        QSignalSpy said(&page, &SetupPage::message);
        QVERIFY(page.files().openConfigFile(file).ok());
        QCOMPARE(page.editor().text("training.gradient_accumulation_steps"), QStringLiteral("4"));
        QCOMPARE(page.editor().text("device"), QStringLiteral("cpu"));
        QVERIFY(page.editor().originText("device").startsWith("Accelerate's configuration file"));
        QVERIFY(!line->isHidden());
        QCOMPARE(line->values(), (QStringList{"Precision fp16 (overruled)", "Device cpu", "Micro-batches per step 4"}));
        const auto* text = line->findChild<QLabel*>();
        QVERIFY(!text->text().contains("main_process_port"));
        line->findChild<QToolButton*>()->click();
        QVERIFY2(text->text().contains("main_process_port has no effect"), qPrintable(text->text()));
        QVERIFY(said.last().at(0).toString().contains("3 setting"));
        // The modes of a comparison stand before the file's mode, and the amber line says so.
        QVERIFY2(page.findChild<OverruledLine*>()->lines().join("\n").contains("mixed_precision fp16"),
                 qPrintable(page.findChild<OverruledLine*>()->lines().join("\n")));
        page.editor().undoStack().undo();
        QCOMPARE(page.editor().text("training.gradient_accumulation_steps"), QStringLiteral("1"));
        QVERIFY(line->isHidden());
    }

    void aRefusedConfigurationChangesNothing_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("named");
        QTest::newRow("unknown keys") << QByteArray("mixed_precison: fp16\nfoo: 1\nuse_cpu: true\n") << "unknown keys mixed_precison";
        QTest::newRow("bad value") << QByteArray("mixed_precision: fp17\n") << "mixed_precision";
        QTest::newRow("not YAML") << QByteArray("a: [1\n") << "line";
    }
    void aRefusedConfigurationChangesNothing() {
        QFETCH(QByteArray, text);
        QFETCH(QString, named);
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-cnn").ok());
        const auto opened = page.files().openConfigFile(writeFile(m_runs, "bad.yaml", text.constData()));
        QVERIFY(!opened.ok());
        QVERIFY2(QString::fromStdString(describe(opened.error())).contains(named), describe(opened.error()).c_str());
        QVERIFY(page.editor().configLayer() == nullptr);
        QVERIFY(!page.editor().undoStack().canUndo());
    }

    void checkpointsHaveAFold() {
        const fake::Machine machine(fake::Machine::answering(fake::cpuReport()));
        fake::Trials trials;
        SetupPage page(m_theme, options(machine, trials));
        QVERIFY(page.startFrom("digits-cnn").ok());
        auto* head = page.findChild<CaptionButton*>("section.checkpoint");
        QCOMPARE(head->toolTip(), QStringLiteral("at the end"));
        QVERIFY(page.editor().edit("checkpoint.every", "50"));
        QVERIFY2(head->toolTip().startsWith("every 50 step"), qPrintable(head->toolTip()));
        QVERIFY(!page.editor().edit("checkpoint.keep", "1"));
        QVERIFY(page.editor().error("checkpoint.keep").contains("checkpoint.keep is 1"));
        auto* keep = page.findChild<QWidget*>("checkpoint.keep");
        QVERIFY(keep->toolTip().startsWith("The oldest go"));
    }

    void choicesAreNamedForPeople() {
        QCOMPARE(choiceLabel("training.loss", "mse"), QStringLiteral("mean squared error"));
        QCOMPARE(choiceLabel("training.scheduler.name", "one_cycle"), QStringLiteral("one cycle – up, then far down"));
        for (const char* path : {"training.loss", "training.scheduler.name", "evaluation.metric", "evaluation.split", "cpu_half"}) {
            for (const std::string& choice : find_plan_field(path)->choices) {
                const bool isAWord = choice == "accuracy" || choice == "loss" || choice == "perplexity";
                QVERIFY2(isAWord || choiceLabel(path, choice) != QString::fromStdString(choice), choice.c_str());
            }
        }
    }

    void watchingIsChosenInWordsAndShowsWhatItUses() {
        PlanEditor editor;
        Sections sections(m_theme, editor);
        sections.show();
        sections.findChild<QAbstractButton*>("section.watching")->click();
        auto* level = sections.findChild<QComboBox*>("observe.level");
        QVERIFY(level != nullptr && level->isVisible());
        QCOMPARE(level->count(), 3);
        QCOMPARE(level->currentData().toString(), QStringLiteral("1"));
        QCOMPARE(level->itemText(0), QStringLiteral("0 – largest values alone"));
        auto* every = sections.findChild<QLineEdit*>("observe.every_steps");
        QVERIFY(every->isVisible());
        level->setCurrentIndex(0);
        Q_EMIT level->activated(0);
        QCOMPARE(editor.plan().observe.level, std::int64_t{0});
        QVERIFY(!every->isVisible());  // nothing is recorded every so many steps
        QVERIFY(editor.edit("observe.level", "2"));
        QCOMPARE(level->currentIndex(), 2);
        auto* size = sections.findChild<QLineEdit*>("observe.keep_states_mib");
        QVERIFY(size->isVisible());
        QVERIFY(editor.edit("observe.keep_states", "false"));
        QVERIFY(!size->isVisible());
        auto* alarms = sections.findChild<QLineEdit*>("observe.alarms");
        QVERIFY2(alarms->placeholderText().contains("default"), qPrintable(alarms->placeholderText()));
    }

    void everyFieldHasALabel() {
        for (const PlanField& field : plan_fields()) {
            QVERIFY2(labelOf(field.path) != QString::fromStdString(field.path), field.path.c_str());
        }
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::SetupPageTest)
#include "setup_page_test.moc"
