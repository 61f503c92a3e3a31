// Following a fast run costs a bounded amount of work per refresh, whatever its rate and length. Counted, not timed: the machine
// that tests may be busy. The measured figure is printed by mantissa-follow-latency.
#include <QSignalSpy>
#include <QtTest>
#include <thread>

#include "base/clock.h"
#include "fixture_runs.h"
#include "support/temporary_folder.h"
#include "ui/charts/chart_card.h"
#include "ui/live/live_page.h"
#include "ui/live/loss_panel.h"

using namespace mantissa;
using namespace mantissa::ui;

class TestLiveFollow : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void thousandStepsASecond();
    void openingALongRun();
};

void TestLiveFollow::thousandStepsASecond() {
    testing::TemporaryFolder folder;
    fixture::Options options;
    options.steps = 0;
    options.planned = 4'000;
    const fixture::Comparison made = fixture::writeComparison(folder.path(), options);
    Theme theme;
    LivePage page(theme);
    page.resize(1208, 738);
    page.show();
    page.showComparison(made.folder);
    QTRY_COMPARE_WITH_TIMEOUT(page.follower()->runs().size(), std::size_t{3}, 5000);
    QSignalSpy refreshes(page.follower(), &ComparisonFollower::advanced);
    qsizetype mostPoints = 0;
    connect(page.follower(), &ComparisonFollower::advanced, &page, [&] {
        for (RunChart* chart : page.findChildren<RunChart*>()) {
            mostPoints = std::max(mostPoints, chart->drawnPoints());
        }
    });
    QElapsedTimer clock;
    clock.start();
    std::jthread writer([&] {
        auto recorder = RunRecorder::open(made.runs.at(0).path);
        const auto started = std::chrono::steady_clock::now();
        for (std::int64_t step = 0; recorder && step < options.planned; ++step) {
            (*recorder)->step(fixture::makeStep(Precision::No, step, now_ns(), options));
            std::this_thread::sleep_until(started + std::chrono::milliseconds(step + 1));
        }
    });
    QTRY_COMPARE_WITH_TIMEOUT(page.follower()->runs()[0]->series().size(), std::size_t{4'000}, 30'000);
    QTest::qWait(150);
    const qint64 elapsed = clock.elapsed();
    qInfo("%lld refreshes in %lld ms, at most %lld points in one chart", static_cast<long long>(refreshes.count()),
          static_cast<long long>(elapsed), static_cast<long long>(mostPoints));
    QVERIFY(refreshes.count() <= elapsed / 50 + 2);  // 20 a second, however many steps came
    QVERIFY(refreshes.count() >= 10);                // and it did move while the run went on
    QVERIFY(mostPoints > 1'000 && mostPoints <= mostPointsPerLine);
}

void TestLiveFollow::openingALongRun() {
    testing::TemporaryFolder folder;
    fixture::Options options;
    options.steps = 0;
    options.planned = 120'000;
    const fixture::Comparison made = fixture::writeComparison(folder.path(), options);
    {
        auto recorder = RunRecorder::open(made.runs.at(0).path);
        QVERIFY(recorder.ok());
        for (std::int64_t step = 0; step < options.planned; ++step) {
            (*recorder)->step(fixture::makeStep(Precision::No, step, step * 1'000'000, options));
        }
    }
    Theme theme;
    LivePage page(theme);
    page.resize(1208, 738);
    page.show();
    page.showComparison(made.folder);
    std::size_t before = 0, largest = 0;
    QTRY_COMPARE_WITH_TIMEOUT(page.follower()->runs().size(), std::size_t{3}, 5000);
    const RunFollower* run = page.follower()->runs()[0].get();
    connect(run, &RunFollower::advanced, &page, [&] {
        largest = std::max(largest, run->series().size() - before);
        before = run->series().size();
    });
    QTRY_COMPARE_WITH_TIMEOUT(run->series().size(), static_cast<std::size_t>(options.planned), 30'000);
    QVERIFY2(largest <= 40'000, qPrintable(QString::number(largest)));
    QTest::qWait(200);
    for (RunChart* chart : page.findChildren<RunChart*>()) {
        QVERIFY(chart->drawnPoints() <= mostPointsPerLine);
    }
}

QTEST_MAIN(TestLiveFollow)
#include "test_live_follow.moc"
