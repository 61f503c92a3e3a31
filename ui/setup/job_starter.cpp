#include "ui/setup/job_starter.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <algorithm>
#include <optional>

#include "judge/judge.h"
#include "judge/texts.h"

namespace mantissa::ui {

/// What the starting thread hands over; moved out in the window's thread.
struct JobStarter::Outcome {
    std::optional<Error> error;
    std::filesystem::path folder;
    std::optional<SupervisorHandle> supervisor;
    std::unique_ptr<ThreadRun> thread;
};

namespace {

Result<void> judgeSingleRun(const std::filesystem::path& folder) {
    auto judged = judge_run(folder, text_language());
    if (!judged) {
        return judged.error();
    }
    return write_verdicts(folder, judged->verdicts);
}

}  // namespace

JobStarter::JobStarter(std::filesystem::path runs, QObject* parent)
    : QObject(parent), m_runs(std::move(runs)) {
    m_watch.setInterval(500);
    connect(&m_watch, &QTimer::timeout, this, &JobStarter::watch);
}

JobStarter::~JobStarter() = default;  // supervisors go on; a run in this thread is interrupted and waited for

RunControl* JobStarter::threadControl() const {
    return m_thread == nullptr ? nullptr : &m_thread->control();
}

void JobStarter::start(JobKind kind, const SourcedPlan& plan) {
    if (m_starting) {
        return;
    }
    const bool inThread = plan.plan.launch.scope == LaunchScope::Thread;
    if (inThread) {
        if (hasThreadRun()) {
            Q_EMIT failed(tr("A run is still going in this window's worker thread."));
            return;
        }
        if (!thread_scope_refusal(kind, plan.plan.mixed_precision).empty()) {
            Q_EMIT freshProcessNeeded(plan.plan.mixed_precision);
            return;
        }
    }
    launch(kind, [kind, plan, runs = m_runs] { return prepare_job(kind, plan, runs); }, inThread);
}

void JobStarter::startPrepared(JobKind kind, std::function<Result<PreparedJob>()> prepare) {
    if (!m_starting) {
        launch(kind, std::move(prepare), false);
    }
}

void JobStarter::launch(JobKind kind, std::function<Result<PreparedJob>()> prepare, bool inThread) {
    m_starting = true;
    const QPointer<JobStarter> self(this);
    QThreadPool::globalInstance()->start([self, kind, prepare = std::move(prepare), inThread] {
        auto outcome = std::make_shared<Outcome>();
        auto job = prepare();
        if (!job) {
            outcome->error = job.error();
        } else if (inThread) {
            outcome->folder = job->folder;
            auto thread = ThreadRun::start(std::move(*job), {}, &judgeSingleRun, {}, ThreadRun::Owner::Window);
            if (thread) {
                outcome->thread = std::move(*thread);
            } else {
                outcome->error = thread.error();
            }
        } else {
            outcome->folder = job->folder;
            auto supervisor = start_supervisor(std::move(*job));
            if (supervisor) {
                outcome->supervisor = std::move(*supervisor);
            } else {
                outcome->error = supervisor.error();
            }
        }
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, outcome, kind] {
            if (self != nullptr) {
                self->take(outcome, kind);
            }
        });
    });
}

void JobStarter::take(const std::shared_ptr<Outcome>& outcome, JobKind kind) {
    m_starting = false;
    if (outcome->error) {
        Q_EMIT failed(QString::fromStdString(describe(*outcome->error)));
        return;
    }
    if (outcome->supervisor) {
        m_supervisors.push_back(std::move(*outcome->supervisor));
    }
    if (outcome->thread) {
        m_thread = std::move(outcome->thread);
        m_threadTold = false;
    }
    m_watch.start();
    Q_EMIT started(outcome->folder, kind == JobKind::Comparison);
}

void JobStarter::watch() {
    std::erase_if(m_supervisors, [](SupervisorHandle& supervisor) { return supervisor.poll().has_value(); });
    if (!m_threadTold && m_thread != nullptr && m_thread->has_ended()) {
        m_threadTold = true;
        Q_EMIT threadRunEnded();
    }
    if (m_supervisors.empty() && m_threadTold) {
        m_watch.stop();
    }
}

}  // namespace mantissa::ui
