#include "ui/setup/where_row.h"

#include <QMenu>
#include <QPushButton>
#include <QThread>
#include <QUndoStack>
#include <algorithm>

#include "plan/plan_names.h"
#include "ui/bridge/retranslation.h"
#include "ui/setup/machine_probe.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {

WhereRow::WhereRow(PlanEditor& editor, const MachineProbe& probe, QWidget* parent)
    : QuestionRow(2, "whereRow", parent),
      m_editor(editor),
      m_probe(probe),
      m_device(addMenuButton("deviceButton")),
      m_scope(addMenuButton("scopeButton")) {
    connect(&editor, &PlanEditor::changed, this, &WhereRow::refresh);
    connect(&editor, &PlanEditor::errorsChanged, this, &WhereRow::refresh);
    connect(&probe, &MachineProbe::changed, this, &WhereRow::refresh);
    connect(m_device->menu(), &QMenu::aboutToShow, this, &WhereRow::fillDevices);
    connect(m_scope->menu(), &QMenu::aboutToShow, this, &WhereRow::fillScopes);
    texts().bind([this] {
        setQuestion(tr("Where?"));
        fillDevices();
        fillScopes();
        refresh();
    });
}

void WhereRow::fillDevices() {
    QMenu* menu = m_device->menu();
    menu->clear();
    const auto add = [&](const QString& id, const QString& words) {
        QAction* action = menu->addAction(words);
        action->setCheckable(true);
        action->setChecked(m_editor.text("device") == id);
        connect(action, &QAction::triggered, this, [this, id] { m_editor.edit("device", id); });
    };
    add(QStringLiteral("auto"), tr("auto  –  the first GPU, else the CPU"));
    bool hasGpu = false;
    for (const DeviceReport& device : m_probe.report().devices) {
        hasGpu = hasGpu || device.id.starts_with("cuda");
        add(QString::fromStdString(device.id), QString::fromStdString(device.id + "  –  " + device.name));
    }
    if (m_probe.report().devices.empty()) {
        add(QStringLiteral("cpu"), QStringLiteral("cpu"));
    }
    if (!hasGpu && m_probe.state() == MachineProbe::State::Known) {
        QStringList notes;
        for (const std::string& note : m_probe.report().notes) {
            notes << QString::fromStdString(note);
        }
        QAction* none = menu->addAction(QStringLiteral("cuda  –  ") + notes.value(0, tr("no GPU here")));
        none->setEnabled(false);
        none->setToolTip(notes.join(QLatin1Char('\n')));
    }
}

void WhereRow::fillScopes() {
    QMenu* menu = m_scope->menu();
    menu->clear();
    const LaunchPlan& launch = m_editor.plan().launch;
    const auto add = [&](LaunchScope scope, int processes, const QString& words) {
        QAction* action = menu->addAction(words);
        action->setCheckable(true);
        action->setChecked(launch.scope == scope && launch.processes == processes);
        connect(action, &QAction::triggered, this, [this, scope, processes] { chooseScope(scope, processes); });
    };
    add(LaunchScope::Process, 1, tr("fresh process"));
    add(LaunchScope::Thread, 1, tr("this window's worker thread"));
    for (const int processes : {2, 4, 8}) {
        if (processes <= std::max(2, QThread::idealThreadCount()))
            add(LaunchScope::Ranks, processes, tr("%1 local ranks  –  they train together").arg(processes));
    }
    QAction* join = menu->addAction(tr("join a launcher  –  torchrun, srun or mpirun start the processes"));
    join->setObjectName(QStringLiteral("joinScope"));
    join->setCheckable(true);
    join->setChecked(launch.scope == LaunchScope::Join);
    connect(join, &QAction::triggered, this, [this] { chooseScope(LaunchScope::Join, 1); });
}

// One step of undo, however many settings it is.
void WhereRow::chooseScope(LaunchScope scope, int processes) {
    const bool isBoth = m_editor.plan().launch.processes != processes && m_editor.plan().launch.scope != scope;
    if (isBoth) m_editor.undoStack().beginMacro(tr("Where it runs"));
    m_editor.edit("launch.processes", QString::number(processes));
    m_editor.edit("launch.scope", QLatin1String(to_string(scope)));
    if (isBoth) m_editor.undoStack().endMacro();
}

QString WhereRow::deviceText() const {
    const std::string& id = m_editor.plan().device;
    const DeviceReport* device = m_probe.device(id);
    if (device == nullptr) {
        return id == "cpu" ? QStringLiteral("CPU") : QString::fromStdString(id);
    }
    const QString kind = device->id == "cpu" ? QStringLiteral("CPU") : QString::fromStdString(device->id);
    return device->name.empty() ? kind : kind + QStringLiteral(" · ") + QString::fromStdString(device->name);
}

QString WhereRow::scopeAnswer() const {
    if (m_editor.plan().launch.scope == LaunchScope::Thread) {
        return tr("in this window, one run at a time; a comparison needs a fresh process for each mode");
    }
    if (m_editor.plan().launch.scope == LaunchScope::Ranks) {
        return tr("%1 processes train each mode together, a batch each; one mode after the other")
            .arg(m_editor.plan().launch.processes);
    }
    if (m_editor.plan().launch.scope == LaunchScope::Join) {
        return tr("a launcher starts the processes, on this machine or on many; its lines are below");
    }
    switch (m_editor.plan().launch.order) {
        case ComparisonOrder::Turns:
            return tr("each mode in a process of its own; they take turns, so times are fair");
        case ComparisonOrder::OneByOne:
            return tr("each mode in a process of its own, one after the other");
        case ComparisonOrder::AtOnce:
            return tr("each mode in a process of its own, at once: times are shared");
    }
    return {};
}

void WhereRow::refresh() {
    const QFontMetrics metrics(m_device->font());
    setButtonText(m_device, tr("Device"), metrics.elidedText(deviceText(), Qt::ElideRight, 210));
    m_device->setToolTip(deviceText());
    const LaunchPlan& launch = m_editor.plan().launch;
    const QString scope = launch.scope == LaunchScope::Thread  ? tr("worker thread")
                          : launch.scope == LaunchScope::Ranks ? tr("%1 local ranks").arg(launch.processes)
                          : launch.scope == LaunchScope::Join  ? tr("a launcher's processes")
                                                               : tr("fresh process");
    setButtonText(m_scope, tr("Runs in"), scope);
    QString problem = m_editor.error("device");
    for (const char* path : {"launch.scope", "launch.processes"}) {
        problem = problem.isEmpty() ? m_editor.error(path) : problem;
    }
    const bool known = m_probe.state() == MachineProbe::State::Known;
    if (problem.isEmpty() && known && m_probe.device(m_editor.plan().device) == nullptr) {
        problem =
            tr("%1 isn't there: %2")
                .arg(m_editor.text("device"),
                     QString::fromStdString(m_probe.report().notes.empty() ? std::string("no such device")
                                                                           : m_probe.report().notes.front()));
    }
    if (problem.isEmpty() && m_probe.state() == MachineProbe::State::Failed) {
        problem = tr("This machine could not be asked: %1").arg(m_probe.problem());
    }
    setAnswer(scopeAnswer(), problem);
}

}  // namespace mantissa::ui
