#pragma once
// Every command of the window once: id, text, shortcut, menu. Feeds the menus, the command palette and the
// test that finds shortcuts given twice. Owns the QActions; the pages connect to them. Thread: the window's.
#include <QAction>
#include <QObject>
#include <QString>
#include <vector>

namespace mantissa::ui {

enum class ActionMenu { Plan, Edit, Run, View, Help };
inline constexpr ActionMenu allActionMenus[]{ActionMenu::Plan, ActionMenu::Edit, ActionMenu::Run,
                                             ActionMenu::View, ActionMenu::Help};

struct ActionSpec {
    const char* id;
    const char* text;      // source text, translated in the context ActionCatalog
    const char* shortcut;  // portable text; empty = none
    ActionMenu menu;
};

class ActionCatalog : public QObject {
    Q_OBJECT
  public:
    explicit ActionCatalog(QObject* parent = nullptr);

    [[nodiscard]] static const std::vector<ActionSpec>& specs();
    /// The action of that id, which must exist.
    [[nodiscard]] QAction* action(const char* id) const;
    [[nodiscard]] const std::vector<QAction*>& actions() const { return m_actions; }
    [[nodiscard]] std::vector<QAction*> inMenu(ActionMenu menu) const;
    [[nodiscard]] static QString menuTitle(ActionMenu menu);
    /// Shortcuts that two actions claim; empty in a good catalogue.
    [[nodiscard]] static QStringList duplicateShortcuts(const std::vector<ActionSpec>& specs);
    void retranslate();

  private:
    std::vector<QAction*> m_actions;  // in the order of specs()
};

}  // namespace mantissa::ui
