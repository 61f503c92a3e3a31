#include "ui/setup/where_row.h"

#include <QMenu>
#include <QPushButton>

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
    const auto add = [&](const char* id, const QString& words, const QString& refusal = {}) {
        QAction* action =
            menu->addAction(refusal.isEmpty() ? words : words + QStringLiteral("  –  ") + refusal);
        action->setCheckable(true);
        action->setChecked(m_editor.text("launch.scope") == QLatin1String(id));
        action->setEnabled(refusal.isEmpty());
        action->setToolTip(refusal);
        connect(action, &QAction::triggered, this,
                [this, id] { m_editor.edit("launch.scope", QLatin1String(id)); });
    };
    add("process", tr("fresh process"));
    add("thread", tr("this window's worker thread"));
    add("ranks", tr("local ranks"), tr("several processes can't train together yet"));
    add("join", tr("join a launcher"), tr("torchrun and mpirun can't be joined yet"));
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
    const bool thread = m_editor.plan().launch.scope == LaunchScope::Thread;
    setButtonText(m_scope, tr("Runs in"), thread ? tr("worker thread") : tr("fresh process"));
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
