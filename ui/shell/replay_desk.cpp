#include "ui/shell/replay_desk.h"

#include <QAction>
#include <QCoreApplication>
#include <QFileDialog>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QThreadPool>
#include <algorithm>

#include "base/numbers.h"
#include "launch/bundle.h"
#include "launch/replay_apply.h"
#include "launch/run_parent.h"
#include "ui/live/live_page.h"
#include "ui/replay/replay_page.h"
#include "ui/runs/runs_page.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/action_catalog.h"
#include "ui/shell/live_host.h"

namespace mantissa::ui {
namespace {

namespace fs = std::filesystem;

QString text(const std::string& value) { return QString::fromStdString(value); }

/// The runs of a job folder in its order; a run folder is its own.
std::vector<fs::path> runsOf(const fs::path& folder) {
    const auto record = read_comparison(folder);
    return record ? record->run_dirs : std::vector<fs::path>{folder};
}

}  // namespace

ReplayDesk::ReplayDesk(const Theme& theme, const ActionCatalog& catalog, LiveHost& live, RunsPage& runs, SetupPage& setup, QWidget* window)
    : QObject(window), m_catalog(catalog), m_live(live), m_runs(runs), m_setup(setup), m_window(window), m_page(new ReplayPage(theme, window)), m_controls(fs::path()) {
    connect(&live, &LiveHost::replayRequested, this, [this](const fs::path& run, std::int64_t step) { (void)open(run, step); });
    connect(&runs, &RunsPage::replayRequested, this, [this](const fs::path& run, std::int64_t step) { (void)open(run, step); });
    connect(&live, &LiveHost::titleChanged, this, &ReplayDesk::refresh);
    connect(&live, &LiveHost::badStepsChanged, this, &ReplayDesk::refresh);
    connect(&runs, &RunsPage::choiceChanged, this, &ReplayDesk::refresh);
    connect(catalog.action("run.replay"), &QAction::triggered, this, &ReplayDesk::openShown);
    connect(m_page, &ReplayPage::titleChanged, this, [this](const QString& title, const QString& subtitle) {
        m_title = title;
        m_subtitle = subtitle;
        Q_EMIT titleChanged();
    });
    connect(m_page, &ReplayPage::backRequested, this, &ReplayDesk::backRequested);
    connect(m_page, &ReplayPage::message, this, &ReplayDesk::message);
    connect(m_page, &ReplayPage::applyRequested, this, &ReplayDesk::askToApply);
    connect(m_page, &ReplayPage::controlRequested, this, &ReplayDesk::startControl);
    connect(&m_controls, &JobStarter::started, this, [this](const fs::path& folder) {
        m_runs.refresh();
        Q_EMIT message(tr("The control is running: %1. What it says of this step is shown here.").arg(text(folder.filename().string())));
    });
    connect(&m_controls, &JobStarter::failed, this, &ReplayDesk::message);
    connect(m_page, &ReplayPage::bundleRequested, this, &ReplayDesk::askForBundle);
    refresh();
}

Result<void> ReplayDesk::open(const fs::path& folder, std::optional<std::int64_t> step) {
    fs::path run = folder;
    for (const fs::path& one : runsOf(folder)) {
        const std::vector<std::int64_t> bad = incident_steps(one);
        const bool isIt = step ? std::find(bad.begin(), bad.end(), *step) != bad.end() : !bad.empty();
        if (isIt) {
            run = one;
            step = step.value_or(bad.front());
            break;
        }
    }
    if (!step) {
        return Error{ErrorCode::InputOutput, "no run in " + folder.string() + " has met a bad step", "name a step with --step"};
    }
    m_page->showStep(run, *step);
    Q_EMIT opened();
    return {};
}

/// What the command means: the run chosen on Runs while that page is shown, else the first on Live that went bad.
void ReplayDesk::openShown() {
    for (const RunOfEntry& run : m_runs.chosenRuns()) {
        if (run.incidentStep) {
            (void)open(run.folder, run.incidentStep);
            return;
        }
    }
    const std::optional<BadStep> bad = m_live.page().firstBadStep();
    if (m_runs.chosenRuns().empty() && bad) {
        (void)open(bad->run, bad->step);
    } else {
        Q_EMIT message(tr("No run here has met a bad step."));
    }
}

void ReplayDesk::refresh() {
    const std::vector<RunOfEntry> chosen = m_runs.chosenRuns();
    const bool isOnRuns = std::any_of(chosen.begin(), chosen.end(), [](const RunOfEntry& run) { return run.incidentStep.has_value(); });
    m_catalog.action("run.replay")->setEnabled(isOnRuns || (chosen.empty() && m_live.page().firstBadStep().has_value()));
}

void ReplayDesk::askToApply() {
    const ReplaySnapshot& snapshot = m_page->follower()->snapshot();
    const VariantReport* best = bestOf(snapshot);
    if (best == nullptr) {
        return;
    }
    ReplayReport report = *snapshot.replay;
    report.run_dir = m_page->follower()->run().string();  // the folder may have been moved since
    const QString change = changeText(*best, report.mode, report.step);
    const std::int64_t planned = snapshot.run ? snapshot.run->planned_steps : 0;
    auto* question = new QMessageBox(QMessageBox::NoIcon, tr("Apply and continue"), tr("Start a new run with one change: %1?").arg(change),
                                     QMessageBox::Cancel, m_window);
    question->setObjectName(QStringLiteral("applyQuestion"));
    question->setInformativeText(tr("Steps %1 to %2.").arg(best->from_step).arg(planned) + QLatin1Char(' ') +
                                 tr("It is recorded as a child of this run, which stays as it is."));
    question->setTextFormat(Qt::PlainText);
    QPushButton* yes = question->addButton(tr("Start the run"), QMessageBox::AcceptRole);
    yes->setProperty("primary", true);
    question->setDefaultButton(yes);
    question->setAttribute(Qt::WA_DeleteOnClose);
    connect(yes, &QPushButton::clicked, this, [this, report, id = best->id] {
        Q_EMIT message(tr("Preparing the run…"));  // where no state is kept at its first step, one is made on the way
        m_setup.starter().startPrepared(JobKind::SingleRun, [report, id] { return prepare_applied_run(report, id); });
    });
    question->open();
}

/// The control alone, as a child of the run: the page stays, and finds it in the runs folder as soon as it is there.
void ReplayDesk::startControl() {
    Q_EMIT message(tr("Starting the control…"));
    m_controls.startPrepared(JobKind::SingleRun, [run = m_page->follower()->run()]() -> Result<PreparedJob> {
        if (const fs::path there = find_control(run); !there.empty()) {  // a second click, or one that was started elsewhere
            return Error{ErrorCode::Usage, "the control is there already: " + there.filename().string(), {}};
        }
        return prepare_control_run(run);
    });
}

void ReplayDesk::askForBundle() {
    const fs::path run = m_page->follower()->run();
    const std::int64_t step = m_page->follower()->step();
    auto* dialog = new QFileDialog(m_window, tr("Save bundle"), QStringLiteral("%1-step-%2.zip").arg(text(run.filename().string())).arg(step),
                                   tr("Archives (*.zip)"));
    dialog->setObjectName(QStringLiteral("saveBundleDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("zip"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, run, step](const QString& file) {
        const QPointer<ReplayDesk> self(this);
        QThreadPool::globalInstance()->start([self, run, step, target = fs::path(file.toStdString())] {
            const auto written = write_bundle(run, step, target);
            QMetaObject::invokeMethod(QCoreApplication::instance(), [self, written] {
                if (self != nullptr) {
                    Q_EMIT self->message(written ? tr("Bundle saved: %1 (%2)")
                                                       .arg(text(written->file.string()), text(readable_bytes(static_cast<std::uint64_t>(written->bytes))))
                                                 : text(describe(written.error())));
                }
            });
        });
    });
    dialog->open();
}

}  // namespace mantissa::ui
