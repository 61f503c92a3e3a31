#include "ui/shell/run_keeper.h"

#include <QAction>
#include <QCoreApplication>
#include <QFileDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPointer>
#include <QThreadPool>

#include "base/numbers.h"
#include "launch/control_client.h"
#include "launch/run_lookup.h"
#include "record/run_summary.h"
#include "ui/bridge/run_controller.h"
#include "ui/runs/continue_dialog.h"
#include "ui/runs/runs_page.h"
#include "ui/setup/setup_page.h"
#include "ui/shell/action_catalog.h"
#include "ui/shell/language.h"
#include "ui/shell/live_host.h"

namespace mantissa::ui {
namespace {

namespace fs = std::filesystem;

QString text(const std::string& value) { return QString::fromStdString(value); }

QString sentence(const Error& error) { return text(describe(error)); }

bool isGoing(const fs::path& run) {
    const auto outcome = read_run_outcome(run);
    return outcome && !is_end_state(outcome->state) && has_supervisor(run);
}

QString nameOf(const fs::path& run) {
    const auto summary = summarize_run(run);
    return summary && !summary->name.empty() ? QStringLiteral("%1 · %2").arg(text(summary->name), QLatin1String(to_string(summary->mode)))
                                             : text(run.filename().string());
}

}  // namespace

RunKeeper::RunKeeper(const ActionCatalog& catalog, const Language& language, LiveHost& live, RunsPage& runs, SetupPage& setup,
                     QWidget* window)
    : QObject(window), m_catalog(catalog), m_language(language), m_live(live), m_runs(runs), m_setup(setup), m_window(window) {
    connect(&live, &LiveHost::checkpointRequested, this, &RunKeeper::checkpoint);
    connect(&live, &LiveHost::saveWeightsRequested, this, &RunKeeper::saveWeights);
    connect(&live, &LiveHost::continueRequested, this, &RunKeeper::continueFrom);
    connect(&live, &LiveHost::controlChanged, this, &RunKeeper::refresh);
    connect(&live, &LiveHost::titleChanged, this, &RunKeeper::refresh);
    connect(&runs, &RunsPage::choiceChanged, this, &RunKeeper::refresh);
    connect(&runs, &RunsPage::saveWeightsRequested, this, &RunKeeper::saveWeights);
    connect(&runs, &RunsPage::continueRequested, this, &RunKeeper::continueFrom);
    connect(&setup.starter(), &JobStarter::failed, this, &RunKeeper::message);
    connect(catalog.action("run.checkpoint"), &QAction::triggered, this, &RunKeeper::checkpoint);
    connect(catalog.action("run.save_weights"), &QAction::triggered, this, [this] { saveWeights({}); });
    connect(catalog.action("run.continue"), &QAction::triggered, this, [this] { continueFrom({}); });
    connect(&m_watch, &CheckpointWatch::saved, this, &RunKeeper::takeSaved);
    connect(&m_watch, &CheckpointWatch::failed, this, &RunKeeper::takeFailed);
    refresh();
}

void RunKeeper::refresh() {
    const bool hasRuns = !candidates().empty();
    m_catalog.action("run.checkpoint")->setEnabled(!m_live.page().shownRuns().empty() && m_live.controller().isAvailable());
    m_catalog.action("run.save_weights")->setEnabled(hasRuns);
    m_catalog.action("run.continue")->setEnabled(hasRuns);
}

void RunKeeper::checkpoint() {
    RunController& controller = m_live.controller();
    if (!controller.isAvailable()) {
        Q_EMIT message(controller.reason());
        return;
    }
    for (const ShownRun& run : m_live.page().shownRuns()) {
        if (!run.hasEnded) {
            m_watch.expect(run.folder);
        }
    }
    controller.checkpoint();
    Q_EMIT message(tr("Saving a checkpoint…"));
}

std::vector<RunKeeper::Candidate> RunKeeper::candidates() const {
    std::vector<Candidate> all;
    for (const RunOfEntry& run : m_runs.chosenRuns()) {
        all.push_back({run.mode, run.folder});
    }
    if (all.empty()) {
        for (const ShownRun& run : m_live.page().shownRuns()) {
            all.push_back({run.mode, run.folder});
        }
    }
    return all;
}

void RunKeeper::withRun(const fs::path& run, const std::function<void(const fs::path&)>& todo) {
    const std::vector<Candidate> shown = candidates();
    if (!run.empty()) {
        todo(run);
    } else if (shown.size() == 1) {
        todo(shown.front().folder);
    } else if (!shown.empty()) {
        auto* menu = new QMenu(m_window);
        menu->setObjectName(QStringLiteral("whichRun"));
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->addSection(tr("Which run?"));
        for (const Candidate& one : shown) {
            menu->addAction(QLatin1String(to_string(one.mode)), this, [todo, folder = one.folder] { todo(folder); });
        }
        menu->popup(m_window->mapToGlobal(QPoint(m_window->width() / 2 - 60, m_window->height() / 3)));
        menu->setActiveAction(menu->actions().at(1));
    }
}

void RunKeeper::saveWeights(const fs::path& run) {
    withRun(run, [this](const fs::path& one) { askWhereTo(one); });
}

void RunKeeper::askWhereTo(const fs::path& run) {
    const CheckpointList list = list_checkpoints(run);
    if (list.checkpoints.empty() && !isGoing(run)) {
        tellNothingSaved(run);
        return;
    }
    const auto summary = summarize_run(run);
    QString name = summary ? QStringLiteral("%1-%2").arg(text(summary->name), QLatin1String(to_string(summary->mode)))
                           : text(run.filename().string());
    auto* dialog = new QFileDialog(m_window, tr("Save weights"), name + QStringLiteral(".safetensors"),
                                   tr("Weights (*.safetensors);;All files (*)"));
    dialog->setObjectName(QStringLiteral("saveWeightsDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("safetensors"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, run](const QString& file) { saveWeightsTo(run, file.toStdString()); });
    dialog->open();
}

void RunKeeper::saveWeightsTo(const fs::path& run, const fs::path& file) {
    if (isGoing(run)) {
        m_wanted[run] = file;
        askForCheckpoint(run);
        Q_EMIT message(tr("Saving a checkpoint, then its weights…"));
        return;
    }
    const auto newest = find_checkpoint(run);
    if (newest) {
        copy(*newest, file);
    } else {
        tellNothingSaved(run);
    }
}

/// The Live page's control when it has the run, else as a guest of its supervisor.
void RunKeeper::askForCheckpoint(const fs::path& run) {
    m_watch.expect(run);
    const auto shown = m_live.page().shownRuns();
    const auto mine = std::find_if(shown.begin(), shown.end(), [&run](const ShownRun& one) { return one.folder == run; });
    if (mine != shown.end() && m_live.controller().isAvailable()) {
        m_live.controller().checkpoint(to_string(mine->mode));
        return;
    }
    const auto summary = summarize_run(run);
    const fs::path job = job_folder_of(run);
    const std::string mode = job != run && summary ? to_string(summary->mode) : "";
    const QPointer<RunKeeper> self(this);
    QThreadPool::globalInstance()->start([self, job, mode] {
        const auto sent = send_one_command(job, "checkpoint", mode);
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, sent] {
            if (self != nullptr && !sent) {
                Q_EMIT self->message(sentence(sent.error()));
            }
        });
    });
}

void RunKeeper::copy(const CheckpointInfo& from, const fs::path& file) {
    const QPointer<RunKeeper> self(this);
    QThreadPool::globalInstance()->start([self, from, file] {
        const auto written = writeWeights(from, file);
        QMetaObject::invokeMethod(QCoreApplication::instance(), [self, written] {
            if (self == nullptr) {
                return;
            }
            if (written) {
                self->tellWritten(*written);
            } else {
                self->addBox(tr("The weights were not saved"), sentence(written.error()), {});
            }
        });
    });
}

void RunKeeper::tellWritten(const WrittenWeights& written) {
    const QString file = text(written.file.string());
    const QString what = tr("%n tensor(s), %1, of %2 after step %3.", nullptr, static_cast<int>(written.tensors))
                             .arg(text(readable_bytes(static_cast<std::uint64_t>(written.bytes))), QLatin1String(to_string(written.from.mode)))
                             .arg(written.from.step);
    addBox(tr("Weights saved"), file + QLatin1Char('\n') + what,
           tr("Opens in Python: %1").arg(QStringLiteral("safetensors.torch.load_file(\"%1\")").arg(file)));
    Q_EMIT message(tr("Weights saved: %1").arg(file));
    Q_EMIT weightsWritten(written.file);
}

void RunKeeper::tellNothingSaved(const fs::path& run) {
    addBox(tr("Nothing saved"), tr("%1 has saved no checkpoint, and weights and a continuation come from one.").arg(nameOf(run)),
           isGoing(run) ? tr("It is still going: save one now with “Checkpoint”, or wait for its end.")
                        : tr("A run saves its end state unless “Save at the end” is off (Set up, Checkpoints). This one ended before it "
                             "could, or was recorded by an older version: run it again."));
}

QMessageBox* RunKeeper::addBox(const QString& title, const QString& words, const QString& more) {
    auto* box = new QMessageBox(QMessageBox::NoIcon, title, words, QMessageBox::Close, m_window);
    box->setObjectName(QStringLiteral("keeperBox"));
    box->setInformativeText(more);
    box->setTextFormat(Qt::PlainText);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
    return box;
}

void RunKeeper::takeSaved(const fs::path& run, const fs::path& checkpoint) {
    const auto info = read_checkpoint_info(checkpoint);
    if (!info) {
        takeFailed(run, sentence(info.error()));
        return;
    }
    if (const auto wanted = m_wanted.find(run); wanted != m_wanted.end()) {
        const fs::path file = wanted->second;
        m_wanted.erase(wanted);
        copy(*info, file);
        return;
    }
    m_saved << tr("%1 after step %2").arg(QLatin1String(to_string(info->mode))).arg(info->step);
    // One message for all runs of a comparison, growing as they come; the folder where there is one.
    Q_EMIT message(m_saved.size() == 1 ? tr("Checkpoint saved: %1, %2").arg(m_saved.front(), text(checkpoint.string()))
                                       : tr("Checkpoints saved: %1").arg(m_saved.join(QStringLiteral(", "))));
    if (!m_watch.isWaiting()) {
        m_saved.clear();
    }
}

void RunKeeper::takeFailed(const fs::path& run, const QString& why) {
    m_wanted.erase(run);
    Q_EMIT message(why);
}

void RunKeeper::continueFrom(const fs::path& run) {
    withRun(run, [this](const fs::path& one) {
        const CheckpointList list = list_checkpoints(one);
        if (list.checkpoints.empty()) {
            tellNothingSaved(one);
            return;
        }
        const auto summary = summarize_run(one);
        const DeviceReport* device = m_setup.probe().device(summary && !summary->device.empty() ? summary->device : "auto");
        auto* dialog = new ContinueDialog(list, nameOf(one), device, m_language.code().toStdString(), m_window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &ContinueDialog::chosen, this, [this](const SourcedPlan& plan) { m_setup.starter().start(JobKind::SingleRun, plan); });
        dialog->open();
    });
}

}  // namespace mantissa::ui
