#include "ui/shell/action_catalog.h"

#include <QCoreApplication>
#include <QHash>
#include <QKeySequence>

#include "base/assert.h"

namespace mantissa::ui {

const std::vector<ActionSpec>& ActionCatalog::specs() {
    using enum ActionMenu;
    static const std::vector<ActionSpec> table{
        {"plan.open", QT_TR_NOOP("Open plan…"), "Ctrl+O", Plan},
        {"plan.save", QT_TR_NOOP("Save plan…"), "Ctrl+S", Plan},
        {"plan.open_config", QT_TR_NOOP("Open Accelerate's configuration…"), "", Plan},
        {"runs.open_folder", QT_TR_NOOP("Open a run or comparison folder…"), "Ctrl+Shift+O", Plan},
        {"run.continue", QT_TR_NOOP("Continue from checkpoint…"), "Ctrl+R", Plan},
        {"app.quit", QT_TR_NOOP("Quit"), "Ctrl+Q", Plan},
        {"edit.undo", QT_TR_NOOP("Undo the last edit of the plan"), "Ctrl+Z", Edit},
        {"edit.redo", QT_TR_NOOP("Redo the edit of the plan"), "Ctrl+Shift+Z", Edit},
        {"run.start", QT_TR_NOOP("Start the comparison"), "Ctrl+Return", Run},
        {"run.pause", QT_TR_NOOP("Pause or go on"), "Ctrl+P", Run},
        {"run.step", QT_TR_NOOP("One step"), "Ctrl+.", Run},
        {"run.checkpoint", QT_TR_NOOP("Save a checkpoint now"), "Ctrl+Shift+S", Run},
        {"run.save_weights", QT_TR_NOOP("Save weights…"), "Ctrl+Shift+W", Run},
        {"run.replay", QT_TR_NOOP("Look at the first bad step"), "Ctrl+B", Run},
        {"run.stop", QT_TR_NOOP("Stop the runs"), "Ctrl+Shift+.", Run},
        {"run.abort", QT_TR_NOOP("End the runs at once, unsaved"), "", Run},
        {"run.trial", QT_TR_NOOP("Try this model again on one batch"), "Ctrl+T", Run},
        {"run.probe", QT_TR_NOOP("Ask this machine again what it can do"), "", Run},
        {"page.setup", QT_TR_NOOP("Set up"), "Ctrl+1", View},
        {"page.live", QT_TR_NOOP("Live"), "Ctrl+2", View},
        {"page.numerics", QT_TR_NOOP("Numerics"), "Ctrl+3", View},
        {"page.runs", QT_TR_NOOP("Runs"), "Ctrl+4", View},
        {"page.lessons", QT_TR_NOOP("Lessons"), "Ctrl+5", View},
        {"view.back", QT_TR_NOOP("Back to the page before"), "Alt+Left", View},
        {"view.palette", QT_TR_NOOP("Commands"), "Ctrl+K", View},
        {"view.refresh", QT_TR_NOOP("Read the runs folder again"), "F5", View},
        {"view.system", QT_TR_NOOP("Colours of the system"), "", View},
        {"view.light", QT_TR_NOOP("Light colours"), "", View},
        {"view.dark", QT_TR_NOOP("Dark colours"), "", View},
        {"view.language", QT_TR_NOOP("Language: English / 中文"), "Ctrl+L", View},
        {"help.about", QT_TR_NOOP("About Mantissa"), "F1", Help},
    };
    return table;
}

ActionCatalog::ActionCatalog(QObject* parent) : QObject(parent) {
    for (const ActionSpec& spec : specs()) {
        auto* action = new QAction(this);
        action->setObjectName(QLatin1String(spec.id));
        action->setShortcut(
            QKeySequence::fromString(QLatin1String(spec.shortcut), QKeySequence::PortableText));
        action->setShortcutContext(Qt::WindowShortcut);
        m_actions.push_back(action);
    }
    retranslate();
}

QAction* ActionCatalog::action(const char* id) const {
    for (QAction* action : m_actions) {
        if (action->objectName() == QLatin1String(id)) {
            return action;
        }
    }
    MANTISSA_ASSERT(!"an action of that id is in the catalogue");
    return nullptr;
}

std::vector<QAction*> ActionCatalog::inMenu(ActionMenu menu) const {
    std::vector<QAction*> found;
    for (std::size_t i = 0; i < m_actions.size(); ++i) {
        if (specs()[i].menu == menu) {
            found.push_back(m_actions[i]);
        }
    }
    return found;
}

QString ActionCatalog::menuTitle(ActionMenu menu) {
    switch (menu) {
        case ActionMenu::Plan:
            return tr("Plan");
        case ActionMenu::Edit:
            return tr("Edit");
        case ActionMenu::Run:
            return tr("Run");
        case ActionMenu::View:
            return tr("View");
        case ActionMenu::Help:
            return tr("Help");
    }
    return {};
}

QStringList ActionCatalog::duplicateShortcuts(const std::vector<ActionSpec>& specs) {
    QHash<QString, QString> owner;
    QStringList clashes;
    for (const ActionSpec& spec : specs) {
        // Through QKeySequence, so that "Ctrl+Shift+Z" and "Shift+Ctrl+Z" are one.
        const QString key =
            QKeySequence::fromString(QLatin1String(spec.shortcut)).toString(QKeySequence::PortableText);
        if (key.isEmpty()) {
            continue;
        }
        if (owner.contains(key)) {
            clashes << QStringLiteral("%1: %2 and %3").arg(key, owner.value(key), QLatin1String(spec.id));
        }
        owner.insert(key, QLatin1String(spec.id));
    }
    return clashes;
}

void ActionCatalog::retranslate() {
    for (std::size_t i = 0; i < m_actions.size(); ++i) {
        m_actions[i]->setText(tr(specs()[i].text));
    }
}

}  // namespace mantissa::ui
