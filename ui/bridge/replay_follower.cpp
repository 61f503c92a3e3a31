#include "ui/bridge/replay_follower.h"

#include <sys/wait.h>

#include <QMetaObject>
#include <QStringList>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "base/files.h"
#include "launch/child_process.h"
#include "launch/supervisor.h"

namespace mantissa::ui {
namespace fs = std::filesystem;
namespace {

constexpr auto pollInterval = std::chrono::milliseconds(200);
constexpr int watchMilliseconds = 200;
constexpr int harmlessCodes[] = {0, 4, 130};  // done, a non-finite value (which is what a replay looks for), interrupted

/// The last lines of what the child wrote: its error is there when it ended before it could write a report.
QString lastLines(const fs::path& file) {
    const auto text = read_file(file);
    const QStringList lines = text ? QString::fromStdString(*text).trimmed().split(QLatin1Char('\n')) : QStringList();
    return lines.mid(qMax<qsizetype>(0, lines.size() - 2)).join(QLatin1Char(' '));
}

}  // namespace

ReplayFollower::ReplayFollower(fs::path run, std::int64_t step, QObject* parent)
    : QObject(parent), m_run(std::move(run)), m_step(step) {
    m_watch.setInterval(watchMilliseconds);
    connect(&m_watch, &QTimer::timeout, this, &ReplayFollower::watchChild);
    m_thread = std::jthread([this](std::stop_token stop) { poll(std::move(stop)); });
}

ReplayFollower::~ReplayFollower() {
    m_thread.request_stop();
    m_thread.join();
    if (m_child > 0) {  // it goes on; somebody has to reap it
        std::thread([child = m_child] { ::waitpid(child, nullptr, 0); }).detach();
    }
}

fs::path ReplayFollower::log() const { return incident_folder(m_run, m_step) / "replay.log"; }

void ReplayFollower::poll(std::stop_token stop) {
    ReplayReader reader(m_run, m_step);
    std::unique_lock lock(m_mutex);
    while (!stop.stop_requested()) {
        lock.unlock();
        if (auto snapshot = reader.look()) {
            QMetaObject::invokeMethod(
                this,
                [this, snapshot = std::move(*snapshot)]() mutable {
                    m_snapshot = std::move(snapshot);
                    m_hasRead = true;
                    Q_EMIT changed();
                },
                Qt::QueuedConnection);
        }
        lock.lock();
        m_wake.wait_for(lock, stop, pollInterval, [] { return false; });
    }
}

void ReplayFollower::start(const std::vector<std::string>& options) {
    if (isReplaying()) {
        return;
    }
    m_problem.clear();
    m_isCancelling = false;
    const auto folder = make_folders(incident_folder(m_run, m_step));
    std::error_code ignored;
    fs::remove(log(), ignored);
    SpawnRequest request{mantissa_program(), {"replay", m_run.string(), "--step", std::to_string(m_step)}, {}, log(), {}, true};
    request.arguments.insert(request.arguments.end(), options.begin(), options.end());
    const auto child = folder ? spawn(request) : Result<pid_t>(folder.error());
    if (child) {
        m_child = *child;
        m_watch.start();
    } else {
        m_problem = QString::fromStdString(describe(child.error()));
    }
    Q_EMIT changed();
}

void ReplayFollower::cancel() {
    if (isReplaying() && !m_isCancelling) {
        m_isCancelling = true;
        ::kill(m_child, SIGINT);
        Q_EMIT changed();
    }
}

void ReplayFollower::watchChild() {
    int status = 0;
    if (m_child <= 0 || ::waitpid(m_child, &status, WNOHANG) == 0) {
        return;
    }
    m_child = 0;
    m_watch.stop();
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const bool isAnError = std::find(std::begin(harmlessCodes), std::end(harmlessCodes), code) == std::end(harmlessCodes);
    if (isAnError && !m_isCancelling) {
        const QString said = lastLines(log());
        m_problem = said.isEmpty() ? tr("The replay %1.").arg(QString::fromStdString(describe_wait_status(status))) : said;
    }
    m_isCancelling = false;
    Q_EMIT changed();
    Q_EMIT replayEnded();
}

}  // namespace mantissa::ui
