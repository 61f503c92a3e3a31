// mantissa-follow-latency [seconds] [steps/s]: how long the window's thread is held while the Live page follows a comparison of three
// runs, each written by another process at that rate. Prints the longest block twice: as the longest time without a turn of the
// event loop (what a person feels, and what a busy machine adds to), and as processor time of the longest single event.
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "fixture_runs.h"
#include "support/temporary_folder.h"
#include "ui/live/live_page.h"
#include "ui/live/loss_panel.h"

using namespace mantissa;
using namespace mantissa::ui;

namespace {

double threadMilliseconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

class TimedApplication : public QApplication {
  public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override {
        if (m_depth > 0) {
            return QApplication::notify(receiver, event);
        }
        ++m_depth;
        const double started = threadMilliseconds();
        const bool result = QApplication::notify(receiver, event);
        m_longestMilliseconds = std::max(m_longestMilliseconds, threadMilliseconds() - started);
        --m_depth;
        return result;
    }
    void restart() { m_longestMilliseconds = 0; }
    [[nodiscard]] double longestMilliseconds() const { return m_longestMilliseconds; }

  private:
    int m_depth = 0;
    double m_longestMilliseconds = 0;
};

void write(const std::vector<RunFolder>& folders, const fixture::Options& options, int seconds, int rate) {
    std::vector<std::unique_ptr<RunRecorder>> recorders;
    for (const RunFolder& folder : folders) {
        auto opened = RunRecorder::open(folder.path);
        if (!opened) {
            std::fprintf(stderr, "%s\n", describe(opened.error()).c_str());
            return;
        }
        recorders.push_back(std::move(*opened));
    }
    const auto started = std::chrono::steady_clock::now();
    const std::int64_t startNs = now_ns();
    for (std::int64_t step = 0; step < std::int64_t{seconds} * rate; ++step) {
        for (std::size_t i = 0; i < recorders.size(); ++i) {
            StepRow row = fixture::makeStep(options.modes[i], step, startNs, options);
            row.time_ns = now_ns();
            recorders[i]->step(row);
        }
        std::this_thread::sleep_until(started + std::chrono::microseconds(1'000'000 * (step + 1) / rate));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int seconds = argc > 1 ? std::atoi(argv[1]) : 20;
    const int rate = argc > 2 ? std::atoi(argv[2]) : 1000;
    testing::TemporaryFolder folder;
    fixture::Options options;
    options.steps = 0;
    options.planned = std::int64_t{seconds} * rate;
    options.fp16NanAt.reset();
    const fixture::Comparison made = fixture::writeComparison(folder.path(), options);
    const pid_t writer = ::fork();  // before Qt starts its threads
    if (writer == 0) {
        write(made.runs, options, seconds, rate);
        ::_exit(0);
    }
    TimedApplication application(argc, argv);
    Theme theme;
    theme.setChoice(Theme::Choice::Light);
    theme.apply();
    LivePage page(theme);
    page.resize(1208, 738);
    page.show();
    page.showComparison(made.folder);
    QTimer::singleShot(1500, [&] { application.restart(); });  // building the window isn't following a run
    QElapsedTimer sinceBeat;
    std::vector<double> gaps;
    QTimer beat;
    beat.setTimerType(Qt::PreciseTimer);
    beat.setInterval(1);
    QObject::connect(&beat, &QTimer::timeout, [&] {
        gaps.push_back(static_cast<double>(sinceBeat.nsecsElapsed()) * 1e-6);
        sinceBeat.restart();
    });
    QTimer::singleShot(1500, [&] {
        sinceBeat.start();
        beat.start();
    });
    QTimer::singleShot(seconds * 1000 + 500, &application, &QCoreApplication::quit);
    QApplication::exec();
    ::waitpid(writer, nullptr, 0);
    std::sort(gaps.begin(), gaps.end());
    const std::size_t steps = page.follower()->runs().front()->series().size();
    std::printf("followed %zu steps of each of 3 runs at %d steps/s\n", steps, rate);
    std::printf("longest time without a turn of the event loop: %.1f ms (99 %%: %.1f ms)\n", gaps.empty() ? 0.0 : gaps.back(),
                gaps.empty() ? 0.0 : gaps[gaps.size() * 99 / 100]);
    std::printf("longest single event, processor time: %.1f ms\n", application.longestMilliseconds());
    page.showNothing();
    return 0;
}
