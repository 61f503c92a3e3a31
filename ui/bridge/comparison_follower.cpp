#include "ui/bridge/comparison_follower.h"

#include <QMetaObject>
#include <algorithm>
#include <chrono>

#include "judge/judge.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

constexpr auto pollInterval = std::chrono::milliseconds(100);
constexpr int refreshMilliseconds = 50;

}  // namespace

ComparisonFollower::ComparisonFollower(fs::path folder, QObject* parent)
    : QObject(parent), m_folder(std::move(folder)), m_isComparison(!fs::exists(RunFolder{m_folder}.plan())) {
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(refreshMilliseconds);
    connect(&m_refresh, &QTimer::timeout, this, &ComparisonFollower::advanced);
    if (!m_isComparison) {
        addRun(m_folder, Precision::No);
    }
    m_thread = std::jthread([this](std::stop_token stop) { poll(std::move(stop)); });
}

ComparisonFollower::~ComparisonFollower() {
    m_thread.request_stop();
    m_thread.join();
}

RunFollower* ComparisonFollower::control() const {
    const auto found = std::find_if(m_runs.begin(), m_runs.end(),
                                    [](const auto& run) { return run->mode() == Precision::No; });
    return found == m_runs.end() ? nullptr : found->get();
}

bool ComparisonFollower::hasEnded() const {
    if (m_isComparison) {
        return m_record && m_record->state != "trial" && m_record->state != "running";
    }
    return std::all_of(m_runs.begin(), m_runs.end(), [](const auto& run) { return run->hasEnded(); });
}

void ComparisonFollower::poll(std::stop_token stop) {
    const fs::path file = m_isComparison ? m_folder / "comparison.json" : RunFolder{m_folder}.verdicts();
    std::optional<fs::file_time_type> seen;
    while (!stop.stop_requested()) {
        std::error_code error;
        const fs::file_time_type written = fs::last_write_time(file, error);
        if (!error && seen != written) {
            std::optional<ComparisonRecord> record;
            std::vector<Verdict> verdicts;
            QString problem;
            if (m_isComparison) {
                if (auto read = read_comparison(m_folder); read) {
                    verdicts = read->verdicts;
                    record = std::move(*read);
                } else {
                    problem = QString::fromStdString(describe(read.error()));
                }
            } else if (auto read = read_verdicts(m_folder); read) {
                verdicts = std::move(*read);
            } else {
                problem = QString::fromStdString(describe(read.error()));
            }
            seen = written;
            QMetaObject::invokeMethod(
                this,
                [this, record = std::move(record), verdicts = std::move(verdicts), problem]() mutable {
                    take(std::move(record), std::move(verdicts), problem);
                },
                Qt::QueuedConnection);
        }
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, stop, pollInterval, [] { return false; });
    }
}

void ComparisonFollower::take(std::optional<ComparisonRecord> record, std::vector<Verdict> verdicts,
                              const QString& problem) {
    m_problem = problem;
    if (problem.isEmpty()) {
        m_verdicts = std::move(verdicts);
        m_record = std::move(record);
    }
    const std::size_t before = m_runs.size();
    if (m_record) {
        for (std::size_t i = m_runs.size(); i < m_record->run_dirs.size(); ++i) {
            addRun(m_record->run_dirs[i], i < m_record->modes.size() ? m_record->modes[i] : Precision::No);
        }
    }
    if (m_runs.size() != before) {
        Q_EMIT runsChanged();
    }
    Q_EMIT recordChanged();
}

void ComparisonFollower::addRun(const fs::path& folder, Precision mode) {
    auto run = std::make_unique<RunFollower>(folder, mode);
    connect(run.get(), &RunFollower::advanced, this, [this] {
        if (!m_refresh.isActive()) {
            m_refresh.start();
        }
    });
    m_runs.push_back(std::move(run));
}

}  // namespace mantissa::ui
