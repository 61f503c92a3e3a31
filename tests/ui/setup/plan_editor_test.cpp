// The edited plan: sources, edits with undo, refusals at the field, issues of the whole plan, length of a
// comparison.
#include "ui/setup/plan_editor.h"

#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "plan/presets.h"
#include "ui/setup/field_form.h"
#include "ui/setup/field_labels.h"
#include "ui/setup/overruled_line.h"

namespace mantissa::ui {

class PlanEditorTest : public QObject {
    Q_OBJECT

    static PlanLayer preset(const std::string& id) {
        auto loaded = load_preset(id, MANTISSA_RESOURCES_DIR "/presets");
        auto layer = preset_layer(*loaded);
        return *layer;
    }

  private Q_SLOTS:
    void editIsPartOfThePlanAndUndone() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        QVERIFY(editor.edit("training.batch_size", "64"));
        QCOMPARE(editor.plan().training.batch_size, 64);
        QCOMPARE(editor.originText("training.batch_size"), QStringLiteral("edited in this window"));
        QVERIFY(editor.edit("training.optimizer.learning_rate", "3e-3"));
        QCOMPARE(editor.plan().training.optimizer.learning_rate, 3e-3);
        editor.undoStack().undo();
        QCOMPARE(editor.plan().training.optimizer.learning_rate, 1e-3);
        QCOMPARE(editor.plan().training.batch_size, 64);
        editor.undoStack().undo();
        QCOMPARE(editor.plan().training.batch_size, 32);
        QVERIFY(!editor.undoStack().canUndo());
        editor.undoStack().redo();
        QCOMPARE(editor.plan().training.batch_size, 64);
    }

    void editsOfOneFieldInARowAreOneStep() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        for (const char* size : {"6", "64", "641"}) {
            QVERIFY(editor.edit("training.batch_size", size));
        }
        QCOMPARE(editor.undoStack().count(), 1);
        editor.undoStack().undo();
        QCOMPARE(editor.plan().training.batch_size, 32);
    }

    void refusedValueStaysOutAndLeavesASentence_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("typed");
        QTest::newRow("zero") << "training.batch_size"
                              << "0";
        QTest::newRow("word") << "training.batch_size"
                              << "many";
        QTest::newRow("fraction") << "training.batch_size"
                                  << "1.5";
        QTest::newRow("negative rate") << "training.optimizer.learning_rate"
                                       << "-1";
        QTest::newRow("nan") << "training.optimizer.learning_rate"
                             << "nan";
        QTest::newRow("unknown schedule") << "training.scheduler.name"
                                          << "exponential";
        QTest::newRow("empty") << "training.batch_size"
                               << "";
        QTest::newRow("scale") << "loss_scale.backoff_factor"
                               << "0";
    }
    void refusedValueStaysOutAndLeavesASentence() {
        QFETCH(QString, path);
        QFETCH(QString, typed);
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        const RunPlan before = editor.plan();
        QSignalSpy changed(&editor, &PlanEditor::changed);
        QSignalSpy errors(&editor, &PlanEditor::errorsChanged);
        QVERIFY(!editor.edit(path.toStdString(), typed));
        QVERIFY(editor.plan() == before);
        QCOMPARE(changed.count(), 0);
        QCOMPARE(errors.count(), 1);
        QVERIFY2(editor.error(path.toStdString()).contains(path),
                 qPrintable(editor.error(path.toStdString())));
        QVERIFY(!editor.isRunnable());
        QCOMPARE(editor.firstProblem(), editor.error(path.toStdString()));
        QVERIFY(editor.edit(path.toStdString(), editor.text(path.toStdString())));  // put back what it was
        QVERIFY(editor.error(path.toStdString()).isEmpty());
        QVERIFY(editor.isRunnable());
    }

    void refusedValuesStayWhileOthersChange() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        QVERIFY(!editor.edit("training.batch_size", "-3"));
        QVERIFY(!editor.edit("training.loss_factor", "nan"));
        QVERIFY(editor.edit("training.seed", "11"));
        editor.setLength(RunLength::Full);
        QCOMPARE(editor.typedText("training.batch_size"), QStringLiteral("-3"));
        QCOMPARE(editor.typedText("training.loss_factor"), QStringLiteral("nan"));
        QCOMPARE(editor.text("training.batch_size"), QStringLiteral("32"));
        QVERIFY(!editor.error("training.batch_size").isEmpty());
        QVERIFY(!editor.isRunnable());  // a comparison with another batch size than the one on the screen
                                        // must not start
        QVERIFY(editor.edit("training.batch_size", "16"));
        QVERIFY(editor.edit("training.loss_factor", "2"));
        QVERIFY(editor.isRunnable());

        QVERIFY(!editor.edit("training.max_steps", "few"));
        QVERIFY(editor.edit("training.epochs", "2"));  // the other one of the two counts now
        QVERIFY(editor.isRunnable());
        QVERIFY(editor.edit("training.optimizer.name", "sgd"));
        QVERIFY(!editor.edit("training.optimizer.momentum", "much"));
        QVERIFY(editor.edit("training.optimizer.name", "adamw"));  // has no momentum
        QVERIFY2(editor.isRunnable(), qPrintable(editor.firstProblem()));
        QVERIFY(!editor.edit("training.batch_size", "0"));
        editor.undoStack().undo();
        QCOMPARE(editor.typedText("training.batch_size"), QStringLiteral("16"));
        QVERIFY(editor.isRunnable());
    }

    void contradictionIsShownAtItsField() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-cnn")}).ok());
        QVERIFY(editor.edit("dataset.name", "breast-cancer"));
        QVERIFY2(editor.error("dataset.name").contains("cnn"), qPrintable(editor.error("dataset.name")));
        QVERIFY(!editor.isRunnable());
        QVERIFY(editor.edit("model.name", "mlp"));
        QVERIFY(editor.isRunnable());
    }

    void optimizersHaveTheirNames() {
        QCOMPARE(choiceLabel("training.optimizer.name", "adamw"), QStringLiteral("AdamW"));
        QCOMPARE(choiceLabel("training.loss", "cross_entropy"), QStringLiteral("cross entropy"));
        QCOMPARE(choiceLabel("model.name", "cnn"), QStringLiteral("cnn"));  // an id that is its own name
    }

    void anotherOptimizerDropsWhatOnlyTheFormerUsed() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        QVERIFY(editor.edit("training.optimizer.name", "sgd"));
        QVERIFY(editor.edit("training.optimizer.momentum", "0.9"));
        QVERIFY(editor.edit("training.optimizer.name", "adamw"));
        QCOMPARE(editor.plan().training.optimizer.momentum, 0.0);
        QVERIFY2(editor.isRunnable(), qPrintable(editor.firstProblem()));
        editor.undoStack().undo();  // one step brings both back
        QCOMPARE(editor.plan().training.optimizer.name, std::string("sgd"));
        QCOMPARE(editor.plan().training.optimizer.momentum, 0.9);
        QVERIFY(editor.edit("fp32_islands", "head"));
        QVERIFY(editor.edit("model.hidden", "64"));
        QVERIFY(editor.edit("model.name", "cnn"));
        QVERIFY2(editor.isRunnable(), qPrintable(editor.firstProblem()));
        QVERIFY(editor.plan().fp32_islands.empty());
    }

    void shortComparisonAndFullPlan() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        QCOMPARE(editor.shortSteps(), 180);  // 4 epochs of 45: shorter than 300
        QVERIFY(editor.edit("training.epochs", "40"));
        QCOMPARE(editor.length(), RunLength::Full);  // a length of one's own counts
        QCOMPARE(editor.stepsNow(), 1800);
        QCOMPARE(editor.shortSteps(), 180);
        editor.setLength(RunLength::Short);
        QCOMPARE(editor.stepsNow(), 180);
        editor.setLength(RunLength::Full);
        QCOMPARE(editor.stepsNow(), 1800);
        QVERIFY(editor.edit("training.max_steps", "700"));
        QCOMPARE(editor.stepsNow(), 700);
        QVERIFY(!editor.plan().training.epochs.has_value());
        editor.setLength(RunLength::Short);
        QCOMPARE(editor.plan().training.max_steps.value_or(180), 180);
    }

    void singleRunHasItsModeAndItsLength() {
        PlanEditor editor;
        auto loaded = load_preset("gated-overflow", MANTISSA_RESOURCES_DIR "/presets");
        QVERIFY(editor.start({preset("gated-overflow")}, compare_defaults(*loaded)).ok());
        const auto plan = editor.planOfOneMode(Precision::Bf16);
        QVERIFY2(plan.ok(), plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->plan.mixed_precision, Precision::Bf16);
        QVERIFY(plan->plan.modes.empty());
        QCOMPARE(plan->plan.training.max_steps.value(), 300);
        QCOMPARE(plan->plan.training.seed, 7u);
    }

    void presetReplacesEditsAndIsOneStep() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        QVERIFY(editor.edit("training.seed", "11"));
        QVERIFY(editor.replacePlan(preset("gated-overflow"), {}, "Preset").ok());
        QCOMPARE(editor.plan().model.name, std::string("gated"));
        QCOMPARE(editor.plan().training.seed, 7u);
        editor.undoStack().undo();
        QCOMPARE(editor.plan().model.name, std::string("mlp"));
        QCOMPARE(editor.plan().training.seed, 11u);
    }

    void overruledEnvironmentIsOneAmberLine() {
        PlanEditor editor;
        const auto environment = environment_layer([](const std::string& name) -> std::optional<std::string> {
            return name == "ACCELERATE_MIXED_PRECISION" ? std::optional<std::string>("BF16") : std::nullopt;
        });
        QVERIFY(environment.ok());
        OverruledLine before(editor);
        QVERIFY(before.isHidden());
        QVERIFY(editor.start({*environment, preset("digits-mlp")}).ok());
        QCOMPARE(before.lines().size(), 1);
        QVERIFY2(before.lines().first().contains("ACCELERATE_MIXED_PRECISION"),
                 qPrintable(before.lines().first()));
        QVERIFY(before.lines().first().contains("bf16"));
        QVERIFY(!before.isHidden());
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        QVERIFY(before.isHidden());  // absent when nothing is overruled
    }

    void formShowsRefusalBesideTheField() {
        PlanEditor editor;
        QVERIFY(editor.start({preset("digits-mlp")}).ok());
        FieldForm form(editor, {"training.batch_size", "training.deterministic"});
        FieldEdit* size = form.field("training.batch_size");
        auto* line = qobject_cast<QLineEdit*>(size->input());
        QCOMPARE(line->text(), QStringLiteral("32"));
        line->clear();
        QTest::keyClicks(line, "0");
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(size->shownError().contains("training.batch_size is 0"));
        line->selectAll();
        QTest::keyClicks(line, "16");
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(size->shownError().isEmpty());
        QCOMPARE(editor.plan().training.batch_size, 16);
        editor.undoStack().undo();
        QCOMPARE(line->text(), QStringLiteral("32"));
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::PlanEditorTest)
#include "plan_editor_test.moc"
