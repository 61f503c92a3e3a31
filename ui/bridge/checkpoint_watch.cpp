#include "ui/bridge/checkpoint_watch.h"

#include <utility>

namespace mantissa::ui {
namespace {

constexpr int lookEveryMs = 250;
constexpr qint64 patienceMs = 120'000;

}  // namespace

CheckpointWatch::CheckpointWatch(QObject* parent) : QObject(parent) {
    m_timer.setInterval(lookEveryMs);
    connect(&m_timer, &QTimer::timeout, this, &CheckpointWatch::look);
}

void CheckpointWatch::expect(const std::filesystem::path& run) {
    Expected expected{run, last_checkpoint_answer(run), {}};
    expected.since.start();
    m_expected.push_back(std::move(expected));
    m_timer.start();
}

void CheckpointWatch::look() {
    std::vector<Expected> still;
    for (Expected& one : std::exchange(m_expected, {})) {
        // With no time to wait it only looks: WorkerLost then means "not yet".
        const auto answer = wait_for_checkpoint(one.run, one.before, 0);
        if (answer) {
            Q_EMIT saved(one.run, *answer);
        } else if (answer.error().code != ErrorCode::WorkerLost || one.since.elapsed() > patienceMs) {
            Q_EMIT failed(one.run, QString::fromStdString(describe(answer.error())));
        } else {
            still.push_back(std::move(one));
        }
    }
    m_expected.insert(m_expected.end(), still.begin(), still.end());
    if (m_expected.empty()) {
        m_timer.stop();
    }
}

}  // namespace mantissa::ui
