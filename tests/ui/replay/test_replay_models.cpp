// The page's tables: values, and one signal per rewritten report.
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/fixture_replay.h"
#include "ui/replay/grown_values.h"
#include "ui/replay/step_ops_model.h"
#include "ui/replay/what_if_model.h"

namespace mantissa::ui {

class ReplayModelsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void gridFillsInWithoutLosingItsRows() {
        WhatIfModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QSignalSpy resets(&model, &QAbstractItemModel::modelReset), changes(&model, &QAbstractItemModel::dataChanged);
        for (std::size_t done = 0; done <= 7; ++done) {
            const ReplayReport report = fixture::gateReplay("/runs/one", done);
            model.setReport(&report);
            QCOMPARE(model.rowCount(), 7);
        }
        QCOMPARE(resets.count(), 1);
        QCOMPARE(changes.count(), 7);
        const ReplayReport same = fixture::gateReplay("/runs/one");
        model.setReport(&same);
        QCOMPARE(changes.count(), 7);  // nothing is new
        QCOMPARE(model.index(4, WhatIfModel::Change).data().toString(), QStringLiteral("fp16, gate.mul in fp32 ◀ best"));
        QVERIFY(model.index(4, WhatIfModel::Later).data(BestRole).toBool());
        QVERIFY(!model.index(1, WhatIfModel::Later).data(BestRole).toBool());
        QCOMPARE(model.index(0, WhatIfModel::ThisStep).data(ToneRole).toInt(), static_cast<int>(CellTone::Bad));
        QVERIFY(model.headerData(WhatIfModel::Later, Qt::Horizontal, Qt::DisplayRole).toString().startsWith("20 step"));
        model.setReport(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void opsOfTheStepMarkTheBirthAndWhatCarriedItOn() {
        StepOpsModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        ReplaySnapshot snapshot;
        snapshot.incident = fixture::gateIncident();
        model.setSnapshot(snapshot);  // from the incident alone
        const auto row = [&](int r) {
            QStringList cells;
            for (int column = 0; column < StepOpsModel::ColumnCount; ++column) {
                cells << model.index(r, column).data().toString();
            }
            return cells;
        };
        QCOMPARE(model.rowCount(), 4);
        QCOMPARE(model.birthRow(), 2);
        QCOMPARE(row(0), (QStringList{"gate.a", "linear", "1,893", "308", "fp16", ""}));
        QCOMPARE(row(2), (QStringList{"▶ gate.mul", "mul", "308 · 231", "+Inf", "fp16", "born here"}));
        QCOMPARE(row(3), (QStringList{"out", "linear", "+Inf", "+Inf", "fp16", "carried on"}));
        QVERIFY(model.index(3, 0).data(CarriedRole).toBool());
        QCOMPARE(model.further(), std::int64_t{212});
        QVERIFY(!model.isOfReplay());  // counted when the run met it
        QVERIFY(model.index(2, StepOpsModel::Out).data(Qt::ToolTipRole).toString().contains("3 +Inf"));
        const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        snapshot.replay = fixture::gateReplay("/runs/one");
        snapshot.replay->birth->carried += 38;
        model.setSnapshot(snapshot);  // the same ops
        QCOMPARE(resets.count(), 0);
        QVERIFY(model.isOfReplay());
        QCOMPARE(model.further(), std::int64_t{250});
        snapshot = {};
        model.setSnapshot(snapshot);
        QCOMPARE(model.rowCount(), 0);
        QCOMPARE(model.birthRow(), -1);
    }

    void aLeafHasNoRowOfItsOwn() {
        StepOpsModel model;
        ReplaySnapshot snapshot;
        snapshot.incident = fixture::gateIncident();
        BirthReport& birth = *snapshot.incident->birth;
        birth.tensor = "features";
        birth.producer = {};
        birth.producer.phase = "data";
        birth.producer.result.nan = 1;
        model.setSnapshot(snapshot);
        QCOMPARE(model.birthRow(), -1);
        QCOMPARE(model.rowCount(), 3);
    }

    void grownValuesComeFromTheReplayElseFromTheRun() {
        ReplaySnapshot snapshot;
        snapshot.incident = fixture::gateIncident();
        GrownValues values = grownValues(snapshot, 65);
        QCOMPARE(values.tensor, QStringLiteral("gate.mul"));
        QCOMPARE(values.largest.size(), std::size_t{65});
        QCOMPARE(values.limit, 65'504.0);
        // The first above half the limit, told by the values themselves.
        const std::int64_t near = values.oneBitLeftStep.value();
        for (const StepValue& value : values.largest) {
            QCOMPARE(value.value > 32'752, value.step >= near);
        }
        snapshot.incident->watched.clear();
        QVERIFY(grownValues(snapshot, 65).isEmpty());
        snapshot.replay = fixture::gateReplay("/runs/one");
        snapshot.replay->producer_largest.push_back({65, std::numeric_limits<double>::infinity()});
        values = grownValues(snapshot, 65);
        QCOMPARE(values.largest.size(), std::size_t{65});  // what isn't finite is the diamond's
        QCOMPARE(values.oneBitLeftStep, std::optional<std::int64_t>(17));
        GrownModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setValues(values);
        QCOMPARE(model.rowCount(), 65);
        const double largest = values.largest[64].value;
        QCOMPARE(model.index(64, GrownModel::Largest).data().toString().toDouble(), largest);
        QCOMPARE(model.index(64, GrownModel::BitsLeft).data().toString(), QString::number(std::log2(65'504 / largest), 'f', 2));
    }
};

}  // namespace mantissa::ui

QTEST_APPLESS_MAIN(mantissa::ui::ReplayModelsTest)
#include "test_replay_models.moc"
