#include "ui/bridge/comparison_follower.h"

#include <QMetaObject>
#include <algorithm>
#include <chrono>

#include "record/run_folder.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

constexpr auto pollInterval = std::chrono::milliseconds(100);
constexpr int refreshMilliseconds = 50;

}  // namespace

ComparisonFollower::ComparisonFollower(fs::path folder, const std::string& language, QObject* parent)
    : QObject(parent), m_folder(std::move(folder)), m_language(language), m_isComparison(!fs::exists(RunFolder{m_folder}.plan())) {
    m_refresh.setSingleShot(true);
    connect(&m_refresh, &QTimer::timeout, this, [this] {
        m_sinceRefresh.restart();
        Q_EMIT advanced();
    });
    if (!m_isComparison) {
        addRun(m_runs, m_folder, Precision::No);
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
        return m_record && has_ended(*m_record);
    }
    return std::all_of(m_runs.begin(), m_runs.end(), [](const auto& run) { return run->hasEnded(); });
}

void ComparisonFollower::setLanguage(const std::string& language) {
    const std::lock_guard lock(m_mutex);
    m_language = language;
}

void ComparisonFollower::poll(std::stop_token stop) {
    ComparisonReader reader(m_folder, m_isComparison);
    std::unique_lock lock(m_mutex);
    while (!stop.stop_requested()) {
        const std::string language = m_language;
        lock.unlock();
        if (auto snapshot = reader.look(language)) {
            QMetaObject::invokeMethod(
                this, [this, snapshot = std::move(*snapshot)]() mutable { take(std::move(snapshot)); },
                Qt::QueuedConnection);
        }
        lock.lock();
        m_wake.wait_for(lock, stop, pollInterval, [] { return false; });
    }
}

void ComparisonFollower::take(ComparisonSnapshot snapshot) {
    m_problem = QString::fromStdString(snapshot.problem);
    if (m_problem.isEmpty()) {
        m_verdicts = std::move(snapshot.verdicts);
        m_record = std::move(snapshot.record);
    }
    const std::size_t before = m_runs.size() + m_repetitions.size();
    if (m_record) {
        for (std::size_t i = m_runs.size(); i < m_record->run_dirs.size(); ++i) {
            addRun(m_runs, m_record->run_dirs[i], i < m_record->modes.size() ? m_record->modes[i] : Precision::No);
        }
    }
    for (std::size_t i = m_repetitions.size(); i < snapshot.repetitions.size(); ++i) {
        addRun(m_repetitions, snapshot.repetitions[i], Precision::No);
    }
    if (m_runs.size() + m_repetitions.size() != before) {
        Q_EMIT runsChanged();
    }
    Q_EMIT recordChanged();
}

void ComparisonFollower::addRun(std::vector<std::unique_ptr<RunFollower>>& runs, const fs::path& folder, Precision mode) {
    auto run = std::make_unique<RunFollower>(folder, mode);
    connect(run.get(), &RunFollower::advanced, this, [this] {
        if (!m_refresh.isActive()) {
            const qint64 since = m_sinceRefresh.isValid() ? m_sinceRefresh.elapsed() : refreshMilliseconds;
            m_refresh.start(static_cast<int>(std::max<qint64>(0, refreshMilliseconds - since)));
        }
    });
    runs.push_back(std::move(run));
}

}  // namespace mantissa::ui
