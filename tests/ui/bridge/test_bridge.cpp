// Columns of a run, and the followers on recordings that grow, appear late, or were lost.
#include <QSignalSpy>
#include <QtTest>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "fixture_runs.h"
#include "support/temporary_folder.h"
#include "ui/bridge/comparison_follower.h"
#include "ui/bridge/run_series.h"
#include "ui/bridge/theme.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

constexpr int patience = 5000;

StepRow rowAt(std::int64_t step) { return fixture::makeStep(Precision::Fp16, step, 0, {}); }

}  // namespace

class TestBridge : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void seriesKeepsRawValues();
    void seriesCountsFates_data();
    void seriesCountsFates();
    void seriesIgnoresRepeatedRows();
    void timeNeverRunsBackwards();
    void followerWaitsForTheRecording();
    void followerTakesWhatIsNew();
    void followerReportsALostRun();
    void longRunComesInBoundedPieces();
    void comparisonBringsItsRuns();
    void fairnessIsKnownBeforeTheJudge();
    void damagedComparisonIsASentence();
    void missingFolderIsASentence();
    void themeFollowsItsChoice();
};

void TestBridge::seriesKeepsRawValues() {
    RunSeries series;
    std::vector<StepRow> rows{rowAt(0), rowAt(1), rowAt(2)};
    rows[1].loss = -std::numeric_limits<double>::infinity();
    rows[1].nonfinite_loss = true;
    rows[2].loss_scale.reset();
    series.append(rows);
    QCOMPARE(series.size(), std::size_t{3});
    QCOMPARE(series.column(Quantity::Loss)[0], rows[0].loss);
    QVERIFY(std::isinf(series.column(Quantity::Loss)[1]) && series.column(Quantity::Loss)[1] < 0);
    QVERIFY(std::isnan(series.column(Quantity::LossScale)[2]));  // not measured
    QCOMPARE(series.marks().at(1).step, 1);
    QCOMPARE(series.marks().at(1).lossIsNan, false);
    QCOMPARE(series.marks().at(1).lossIsFinite, false);
}

void TestBridge::seriesCountsFates_data() {
    QTest::addColumn<bool>("nonfiniteLoss");
    QTest::addColumn<int>("badGradients");
    QTest::addColumn<bool>("skipped");
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("fate");
    const auto fate = [](StepFate f) { return static_cast<int>(f); };
    QTest::newRow("applied") << false << 0 << false << 0 << fate(StepFate::Applied);
    QTest::newRow("the scaler caught it") << false << 5 << true << 1 << fate(StepFate::SkipProbing);
    QTest::newRow("a skip that is a fault") << false << 5 << true << 2 << fate(StepFate::SkipFault);
    QTest::newRow("skipped with a bad loss") << true << 5 << true << 2 << fate(StepFate::Nonfinite);
    QTest::newRow("bad gradients without a scaler") << false << 5 << false << 0 << fate(StepFate::Nonfinite);
}

void TestBridge::seriesCountsFates() {
    QFETCH(bool, nonfiniteLoss);
    QFETCH(int, badGradients);
    QFETCH(bool, skipped);
    QFETCH(int, kind);
    QFETCH(int, fate);
    StepRow row = rowAt(5);
    row.nonfinite_loss = nonfiniteLoss;
    row.nonfinite_grads = badGradients;
    row.skipped = skipped;
    row.skip_kind = static_cast<SkipKind>(kind);
    RunSeries series;
    series.append(std::span(&row, 1));
    QCOMPARE(static_cast<int>(series.fate(0)), fate);
    QCOMPARE(series.count(static_cast<StepFate>(fate)), 1);
    QCOMPARE(series.marks().size(), std::size_t(fate == 0 ? 0 : 1));
    // A step that is skipped for its loss is both, as the command line's table counts it.
    QCOMPARE(series.skipped(SkipKind::Probing), kind == 1 ? 1 : 0);
    QCOMPARE(series.skipped(SkipKind::Fault), kind == 2 ? 1 : 0);
}

void TestBridge::seriesIgnoresRepeatedRows() {
    RunSeries series;
    const std::vector<StepRow> rows{rowAt(3), rowAt(4)};
    series.append(rows);
    series.append(rows);
    QCOMPARE(series.size(), std::size_t{2});
    QCOMPARE(series.indexOfStep(4), std::optional<std::size_t>(1));
    QVERIFY(!series.indexOfStep(2));
    QVERIFY(!series.indexOfStep(5));
}

void TestBridge::timeNeverRunsBackwards() {
    RunSeries series;
    std::vector<StepRow> rows{rowAt(0), rowAt(1), rowAt(2)};
    rows[1].time_ns = rows[0].time_ns - 3'600'000'000'000;  // the wall clock was set back an hour
    series.append(rows);
    const auto& time = series.x(XKind::Time);
    QVERIFY(time[0] <= time[1] && time[1] <= time[2]);
}

void TestBridge::followerWaitsForTheRecording() {
    testing::TemporaryFolder folder;
    RunFollower follower(folder.path(), Precision::Bf16);
    QTest::qWait(200);
    QVERIFY(follower.problem().isEmpty());
    QCOMPARE(follower.mode(), Precision::Bf16);
    auto recorder = RunRecorder::open(folder.path());
    QVERIFY(recorder.ok());
    fixture::writeRunStart(**recorder, Precision::Bf16, {}, {});
    (*recorder)->step(fixture::makeStep(Precision::Bf16, 0, now_ns(), {}));
    QVERIFY((*recorder)->flush().ok());
    QTRY_COMPARE_WITH_TIMEOUT(follower.series().size(), std::size_t{1}, patience);
}

void TestBridge::followerTakesWhatIsNew() {
    testing::TemporaryFolder folder;
    const auto lock = RunLock::take(RunFolder{folder.path()});
    QVERIFY(lock.ok());
    auto recorder = RunRecorder::open(folder.path());
    QVERIFY(recorder.ok());
    fixture::writeRunStart(**recorder, Precision::Fp16, {}, {});
    RunFollower follower(folder.path(), Precision::No);
    for (std::int64_t step = 0; step < 300; ++step) {
        (*recorder)->step(rowAt(step));
        if (step % 100 == 99) {
            (*recorder)->evaluation({step + 1, "validation", "accuracy", 0.5, "fp32", 360});
            QVERIFY((*recorder)->flush().ok());
            QTRY_COMPARE_WITH_TIMEOUT(follower.series().size(), static_cast<std::size_t>(step + 1), patience);
        }
    }
    QTRY_COMPARE_WITH_TIMEOUT(follower.evaluations().size(), std::size_t{3}, patience);
    QTRY_COMPARE_WITH_TIMEOUT(follower.mode(), Precision::Fp16, patience);  // the recording's own word
    QCOMPARE(follower.state().state, RunState::Running);
    QCOMPARE(follower.series().count(StepFate::SkipProbing), 3);
    QCOMPARE(follower.series().count(StepFate::Nonfinite), 1);
    (*recorder)->state(RunState::Finished);
    QVERIFY((*recorder)->flush().ok());
    QTRY_VERIFY_WITH_TIMEOUT(follower.hasEnded(), patience);
}

void TestBridge::followerReportsALostRun() {
    testing::TemporaryFolder folder;
    {
        const auto lock = RunLock::take(RunFolder{folder.path()});
        QVERIFY(lock.ok());
        auto recorder = RunRecorder::open(folder.path());
        QVERIFY(recorder.ok());
        fixture::writeRunStart(**recorder, Precision::No, {}, {});
        (*recorder)->step(rowAt(0));
    }  // the worker dies: no end state, and its lock is free
    RunFollower follower(folder.path(), Precision::No);
    QTRY_COMPARE_WITH_TIMEOUT(follower.state().state, RunState::Lost, patience);
}

void TestBridge::longRunComesInBoundedPieces() {
    testing::TemporaryFolder folder;
    constexpr std::int64_t steps = 70'000;
    auto recorder = RunRecorder::open(folder.path());
    QVERIFY(recorder.ok());
    for (std::int64_t step = 0; step < steps; ++step) {
        (*recorder)->step(rowAt(step));
    }
    QVERIFY((*recorder)->flush().ok());
    RunFollower follower(folder.path(), Precision::Fp16);
    std::size_t largest = 0, before = 0;
    connect(&follower, &RunFollower::advanced, this, [&] {
        largest = std::max(largest, follower.series().size() - before);
        before = follower.series().size();
    });
    QTRY_COMPARE_WITH_TIMEOUT(follower.series().size(), static_cast<std::size_t>(steps), 20'000);
    // One delivery is at most one full read and what was merged while it waited.
    QVERIFY2(largest <= 40'000, qPrintable(QString::number(largest)));
}

void TestBridge::comparisonBringsItsRuns() {
    testing::TemporaryFolder folder;
    fixture::Options options;
    options.steps = options.planned;
    options.ended = true;
    const fixture::Comparison made = fixture::writeComparison(folder.path(), options);
    ComparisonFollower follower(made.folder);
    QSignalSpy added(&follower, &ComparisonFollower::runsChanged);
    QTRY_COMPARE_WITH_TIMEOUT(follower.runs().size(), std::size_t{3}, patience);
    QCOMPARE(added.count(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(follower.runs()[2]->series().size(), std::size_t{300}, patience);
    QTRY_COMPARE_WITH_TIMEOUT(follower.runs()[1]->series().size(), std::size_t{145}, patience);
    QVERIFY(follower.hasEnded());
    QVERIFY(follower.record()->decision.has_value());
    QVERIFY(!follower.verdicts().empty());
    QCOMPARE(follower.control()->mode(), Precision::No);
}

void TestBridge::fairnessIsKnownBeforeTheJudge() {
    testing::TemporaryFolder folder;
    fixture::Options options;
    options.isFair = false;
    const fixture::Comparison made = fixture::writeComparison(folder.path(), options);
    auto record = read_comparison(made.folder);
    QVERIFY(record.ok());
    record->fairness = {};  // as the supervisor leaves it while runs go on
    QVERIFY(write_comparison(made.folder, *record).ok());
    ComparisonFollower follower(made.folder);
    QTRY_VERIFY_WITH_TIMEOUT(follower.record() && follower.record()->fairness.known, patience);
    QVERIFY(!follower.record()->fairness.fair);
    QCOMPARE(follower.record()->fairness.differences.size(), std::size_t{1});
}

void TestBridge::damagedComparisonIsASentence() {
    testing::TemporaryFolder folder;
    (void)folder.file("comparison.json", "{\"id\": ");
    ComparisonFollower follower(folder.path());
    QTRY_VERIFY_WITH_TIMEOUT(!follower.problem().isEmpty(), patience);
    QVERIFY2(follower.problem().contains(QStringLiteral("comparison.json")), qPrintable(follower.problem()));
}

void TestBridge::missingFolderIsASentence() {
    testing::TemporaryFolder folder;
    ComparisonFollower follower(folder.path() / "gone");
    QTRY_VERIFY_WITH_TIMEOUT(follower.problem().contains(QStringLiteral("gone")), patience);
}

void TestBridge::themeFollowsItsChoice() {
    Theme theme;
    QSignalSpy changed(&theme, &Theme::changed);
    theme.setChoice(Theme::Choice::Light);
    QCOMPARE(theme.modeColour(Precision::Fp16), QColor(QStringLiteral("#D55E00")));
    QCOMPARE(theme.modeColour(Precision::Bf16), QColor(QStringLiteral("#0072B2")));
    QCOMPARE(theme.modeColour(Precision::Fp8), QColor(QStringLiteral("#009E73")));
    QCOMPARE(theme.modeColour(Precision::No), theme.colours().text);
    QCOMPARE(theme.colours().nonfinite, QColor(QStringLiteral("#CC79A7")));
    theme.setChoice(Theme::Choice::Dark);
    QVERIFY(theme.isDark());
    QCOMPARE(changed.count(), 2);
    QVERIFY(!theme.styleSheet().contains(QLatin1Char('%')));  // every colour of the sheet has its value
}

QTEST_MAIN(TestBridge)
#include "test_bridge.moc"
