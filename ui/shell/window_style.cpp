#include "ui/shell/window_style.h"

#include "ui/bridge/theme.h"

namespace mantissa::ui {
namespace {

constexpr const char* rules = R"(
#MainFrame { background: @window; }
#TopBar { background: @surface; border: none; border-bottom: 1px solid @border; }
#StatusStrip { background: @surface; border: none; border-top: 1px solid @border; }
#StatusStrip QLabel { color: @muted; font-size: 12px; }
#StatusStrip QLabel[busy="true"] { color: @good; }
#PageRail { background: @rail; border: none; border-right: 1px solid @border; }
QLabel[role="title"] { font-weight: 600; font-size: 14px; }
QLabel[role="muted"] { color: @muted; }
QPushButton[role="link"] { background: transparent; border: 1px solid transparent; color: @muted; padding: 3px 6px; }
QPushButton[role="link"]:hover { color: @text; }
QPushButton[role="link"]:focus { border-color: @accent; }
QToolButton[rail="true"] { border: none; border-left: 3px solid transparent; border-radius: 0px; color: @muted;
    padding: 6px 3px 4px 0px; font-size: 12px; }
QToolButton[rail="true"]:hover { color: @text; }
QToolButton[rail="true"]:checked { background: @surface; border-left: 3px solid @accent; color: @text; }
QToolButton[rail="true"]:focus { color: @text; border-left: 3px solid @text; }
QFrame[rule="true"] { background: @border; border: none; }
QFrame[amber="true"] { background: @surface; border: 1px solid @border; border-left: 4px solid @amber; border-radius: 5px; }
QLabel[fieldError="true"] { color: @error; }
QLineEdit, QComboBox, QSpinBox { background: @field; border: 1px solid @border; border-radius: 4px; padding: 3px 7px;
    selection-background-color: @accent; selection-color: @accentText; }
#joinCard QPlainTextEdit { background: @field; border: 1px solid @border; border-radius: 4px; padding: 3px; }
#joinCard QPlainTextEdit:focus { border-color: @accent; }
QLineEdit:focus, QComboBox:focus, QSpinBox:focus { border-color: @accent; }
QLineEdit[wrong="true"], QComboBox[wrong="true"] { border-color: @error; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/chevron.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @border; selection-background-color: @accent;
    selection-color: @accentText; }
QPushButton[menuButton="true"]::menu-indicator { image: none; width: 0px; }
QPushButton[tall="true"] { padding: 9px 16px; }
QPushButton[primary="true"][tall="true"] { padding: 9px 22px; font-size: 15px; }
QPushButton[primary="true"][tall="true"]:focus { padding: 8px 21px; }
QPushButton { outline: none; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QRadioButton, QCheckBox { spacing: 7px; }
QRadioButton::indicator, QCheckBox::indicator { width: 12px; height: 12px; border: 1px solid @muted; background: @field; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator { border-radius: 3px; }
QRadioButton::indicator:checked { border: 4px solid @accent; width: 6px; height: 6px; background: @accentText; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/icons/tick.svg); }
QRadioButton::indicator:focus, QCheckBox::indicator:focus { border-color: @text; }
#runDetails QToolButton { color: @text; background: @field; border: 1px solid @border; border-radius: 4px; padding: 2px 9px; }
#runDetails QToolButton:hover { border-color: @muted; }
#runDetails QToolButton:focus { border-color: @accent; }
QToolButton#menuButton { padding: 4px; }
#CommandPalette { background: @surface; border: 1px solid @border; }
#CommandPalette QListWidget { border: none; }
#CommandPalette QListWidget::item { padding: 6px; }
#runsTable, #checkpointTable { border-radius: 5px; outline: 0; }
#runsTable::item, #checkpointTable::item { padding: 0px 5px; border-bottom: 1px solid @grid; }
#runsTable::item:selected, #checkpointTable::item:selected { background: @chosen; color: @text; }
#runsTable QHeaderView::section, #checkpointTable QHeaderView::section { padding-left: 8px; }
#lessonList { background: @surface; border: 1px solid @border; border-radius: 5px; outline: 0; padding: 4px; }
#lessonList::item { padding: 6px 5px; border-radius: 4px; }
#lessonList::item:selected { background: @chosen; color: @text; }
QTableView[replayTable="true"] { border: none; outline: 0; background: @surface; }
QTableView[replayTable="true"]::item { padding: 0px 5px; border-bottom: 1px solid @grid; }
QTableView[replayTable="true"]::item:selected { background: @chosen; color: @text; }
QTableView[replayTable="true"] QHeaderView::section { padding: 2px 8px 4px 8px; border-bottom: 1px solid @grid; font-size: 12px; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0px; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0px; }
QScrollBar::handle { background: @border; border-radius: 4px; margin: 2px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)";

/// A quiet mark of the chosen row: the coloured words in it stay readable.
QColor mixed(const QColor& ground, const QColor& tint) {
    const auto part = [](int a, int b) { return (a * 82 + b * 18) / 100; };
    return {part(ground.red(), tint.red()), part(ground.green(), tint.green()),
            part(ground.blue(), tint.blue())};
}

}  // namespace

QString windowStyle(const ThemeColours& c) {
    QString sheet = QString::fromLatin1(rules);
    // Longer names first: @accentText must not be eaten by @accent.
    const std::pair<const char*, QColor> names[] = {
        {"@accentText", c.accentText},
        {"@accent", c.accent},
        {"@window", c.window},
        {"@surface", c.surface},
        {"@border", c.border},
        {"@field", c.button},
        {"@rail", c.rail},
        {"@muted", c.muted},
        {"@grid", c.grid},
        {"@good", c.good},
        {"@error", c.error},
        {"@amber", QColor(0xcc8400)},
        {"@chosen", mixed(c.surface, c.accent)},
        {"@text", c.text},
        {"@link", c.bf16},
    };
    for (const auto& [name, colour] : names) {
        sheet.replace(QLatin1String(name), colour.name());
    }
    return sheet;
}

}  // namespace mantissa::ui
