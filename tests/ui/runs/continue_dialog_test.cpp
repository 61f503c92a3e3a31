// Continue from checkpoint…: the list, the choice of mode with what it does to the loss scale, and the plan that comes of it.
#include "ui/runs/continue_dialog.h"

#include <QAbstractItemModelTester>
#include <QAbstractButton>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "fixture_checkpoints.h"
#include "ui/bridge/weights_file.h"
#include "ui/runs/checkpoint_model.h"
#include "ui/runs/continued_plan.h"

namespace mantissa::ui {

class ContinueDialogTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path m_run;

    static RunPlan plan() {
        RunPlan plan;
        plan.name = "digits-mlp";
        plan.training.max_steps = 300;
        plan.modes = {Precision::No, Precision::Fp16};
        plan.launch.scope = LaunchScope::Thread;
        return plan;
    }
    static DeviceReport device() {
        DeviceReport report;
        report.id = "cpu";
        report.modes = {{Precision::No, Support::Native, "", false, false, {}},
                        {Precision::Fp16, Support::Emulated, "no AVX512-FP16", false, false, {}},
                        {Precision::Bf16, Support::Unsupported, "bf16 needs 8.0", false, false, {}}};
        return report;
    }

  private Q_SLOTS:
    void initTestCase() {
        m_run = m_folder.filePath("20260101-000000-digits-mlp-fp16").toStdString();
        fixture::writeCheckpoint(m_run, {120, Precision::Fp16, 32768, plan()});
        fixture::writeCheckpoint(m_run, {300, Precision::Fp16, 16384, plan()});
    }

    void modelShowsTheNewestFirst() {
        CheckpointModel model(list_checkpoints(m_run).checkpoints);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, CheckpointModel::Step).data().toString(), QStringLiteral("300"));
        QCOMPARE(model.index(1, CheckpointModel::Step).data().toString(), QStringLiteral("120"));
        QCOMPARE(model.index(0, CheckpointModel::Mode).data().toString(), QStringLiteral("fp16"));
        QCOMPARE(model.index(1, CheckpointModel::Scale).data().toString(), QStringLiteral("2^15"));
        QVERIFY(model.index(0, CheckpointModel::Size).data().toString().contains("B"));
        QCOMPARE(model.headerData(CheckpointModel::Step, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("After step"));
        QVERIFY(model.checkpoint(2) == nullptr);
    }

    void theModeSaysWhatBecomesOfTheScale() {
        ContinueDialog dialog(list_checkpoints(m_run), "digits-mlp · fp16", nullptr, "en");
        QCOMPARE(dialog.mode(), Precision::Fp16);  // its own
        QVERIFY2(dialog.scaleSentence().contains("taken up at 2^14"), qPrintable(dialog.scaleSentence()));
        dialog.choose(0, Precision::Bf16, 100);
        QVERIFY2(dialog.scaleSentence().contains("(2^14) and its growth tracker are dropped"), qPrintable(dialog.scaleSentence()));
        const auto bf16 = m_run.parent_path() / "bf16";
        fixture::writeCheckpoint(bf16, {50, Precision::Bf16, 0, plan()});
        ContinueDialog other(list_checkpoints(bf16), "x", nullptr, "en");
        other.choose(0, Precision::Fp16, 10);
        QVERIFY2(other.scaleSentence().contains("starts anew at 2^16"), qPrintable(other.scaleSentence()));
        ContinueDialog chinese(list_checkpoints(m_run), "x", nullptr, "zh");
        QVERIFY(chinese.scaleSentence().contains(QStringLiteral("损失缩放")));
    }

    void thePlanIsTheCheckpointsWithThreeEdits() {
        ContinueDialog dialog(list_checkpoints(m_run), "x", nullptr, "en");
        QSignalSpy chosen(&dialog, &ContinueDialog::chosen);
        dialog.choose(1, Precision::No, 80);
        QCOMPARE(dialog.findChild<QPushButton*>("continueButton")->text(), QStringLiteral("Continue from step 120"));
        dialog.findChild<QPushButton*>("continueButton")->click();
        QCOMPARE(chosen.count(), 1);
        const auto taken = chosen.first().first().value<SourcedPlan>();
        QCOMPARE(taken.plan.mixed_precision, Precision::No);
        QCOMPARE(taken.plan.training.max_steps.value_or(0), std::int64_t{200});
        QVERIFY(taken.plan.checkpoint.resume_from.ends_with("checkpoints/checkpoint_120"));
        QCOMPARE(taken.plan.launch.scope, LaunchScope::Process);
        QVERIFY(taken.plan.modes.empty());
        QCOMPARE(taken.plan.name, std::string("digits-mlp"));
        QCOMPARE(taken.origins.at("mixed_precision").source, ValueSource::Edit);
        QCOMPARE(dialog.result(), int(QDialog::Accepted));
    }

    void stepsBeginWithWhatIsLeft() {
        ContinueDialog dialog(list_checkpoints(m_run), "x", nullptr, "en");
        auto* steps = dialog.findChild<QSpinBox*>("furtherSteps");
        QCOMPARE(steps->value(), 300);  // the plan is done: as many again
        dialog.choose(1, Precision::Fp16, 1);
        QCOMPARE(suggestedSteps(dialog.checkpoint()), std::int64_t{180});
    }

    void whatADeviceCannotIsNotOffered() {
        const DeviceReport cpu = device();
        ContinueDialog dialog(list_checkpoints(m_run), "x", &cpu, "en");
        auto* bf16 = dialog.findChild<QAbstractButton*>("mode_bf16");
        QVERIFY(!bf16->isEnabled());
        QCOMPARE(bf16->text(), QStringLiteral("bf16 – unsupported"));
        QCOMPARE(bf16->toolTip(), QStringLiteral("bf16 needs 8.0"));
        QCOMPARE(dialog.findChild<QAbstractButton*>("mode_fp16")->text(), QStringLiteral("fp16 – emulated"));
        dialog.choose(0, Precision::Bf16, 10);
        QCOMPARE(dialog.mode(), Precision::Fp16);
    }

    void damagedCheckpointsAreNamed() {
        const auto run = m_run.parent_path() / "damaged";
        fixture::writeCheckpoint(run, {10, Precision::No, 0, plan()});
        const auto bad = fixture::writeCheckpoint(run, {20, Precision::No, 0, plan()});
        std::filesystem::remove(bad / "model.safetensors");
        ContinueDialog dialog(list_checkpoints(run), "x", nullptr, "en");
        QCOMPARE(dialog.checkpoint().step, std::int64_t{10});
        bool isNamed = false;
        for (const QLabel* label : dialog.findChildren<QLabel*>()) {
            isNamed = isNamed || label->text().contains("checkpoint_20");
        }
        QVERIFY(isNamed);
    }

    void weightsAreCopiedByteForByte() {
        const auto info = find_checkpoint(m_run);
        QVERIFY(info.ok());
        const auto file = std::filesystem::path(m_folder.filePath("w.safetensors").toStdString());
        const auto written = writeWeights(*info, file);
        QVERIFY2(written.ok(), written ? "" : describe(written.error()).c_str());
        QCOMPARE(written->tensors, std::int64_t{2});
        QCOMPARE(static_cast<std::uintmax_t>(written->bytes), std::filesystem::file_size(info->weights()));
        QFile a(QString::fromStdString(file.string())), b(QString::fromStdString(info->weights().string()));
        QVERIFY(a.open(QIODevice::ReadOnly) && b.open(QIODevice::ReadOnly));
        QCOMPARE(a.readAll(), b.readAll());
        const auto nowhere = writeWeights(*info, m_folder.filePath("no/such/w.safetensors").toStdString());
        QVERIFY(!nowhere.ok());
        QVERIFY2(QString::fromStdString(nowhere.error().message).contains("no/such"), nowhere.error().message.c_str());
    }

    void damagedWeightsAreNotPassedOn() {
        const auto run = m_run.parent_path() / "cut";
        const auto made = fixture::writeCheckpoint(run);
        std::filesystem::resize_file(made / "model.safetensors", 40);
        CheckpointInfo info;
        info.path = made;
        const auto file = m_folder.filePath("cut.safetensors");
        QVERIFY(!writeWeights(info, file.toStdString()).ok());
        QVERIFY(!QFile::exists(file));
    }
};

}  // namespace mantissa::ui

QTEST_MAIN(mantissa::ui::ContinueDialogTest)
#include "continue_dialog_test.moc"
