#include "ui/bridge/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QStyleFactory>

namespace mantissa::ui {
namespace {

ThemeColours lightColours() {
    ThemeColours c;
    c.window = 0xf4f5f7;
    c.surface = 0xffffff;
    c.rail = 0xebedf1;
    c.button = 0xf1f3f6;
    c.border = 0xdcdfe4;
    c.grid = 0xdfe1e5;
    c.text = 0x1f2226;
    c.muted = 0x5f6671;
    c.accent = 0x0072b2;
    c.accentText = 0xffffff;
    c.error = 0xc5303c;
    c.errorFill = 0xfdeae8;
    c.errorBorder = 0xf0b9b4;
    c.warning = 0x9a6700;
    c.warningFill = 0xfff6df;
    c.good = 0x157a4a;
    c.goodFill = 0xe9f6ee;
    c.goodBorder = 0xb4dec5;
    c.warningBorder = 0xe8d08c;
    c.no = 0x1f2226;
    c.fp16 = 0xd55e00;
    c.bf16 = 0x0072b2;
    c.fp8 = 0x009e73;
    c.nonfinite = 0xcc79a7;
    return c;
}

// The three mode colours are one step lighter here: the light theme's blue has too little contrast on the dark surface.
ThemeColours darkColours() {
    ThemeColours c;
    c.window = 0x1b1d21;
    c.surface = 0x24272b;
    c.rail = 0x16181b;
    c.button = 0x1b1d21;
    c.border = 0x3a3e44;
    c.grid = 0x373b41;
    c.text = 0xeceef0;
    c.muted = 0x9ba1aa;
    c.accent = 0x0072b2;
    c.accentText = 0xffffff;
    c.error = 0xf0616d;
    c.errorFill = 0x3a2323;
    c.errorBorder = 0x7a3733;
    c.warning = 0xe0a83a;
    c.warningFill = 0x37301f;
    c.good = 0x4cc38a;
    c.goodFill = 0x1f3529;
    c.goodBorder = 0x2f5a43;
    c.warningBorder = 0x66552a;
    c.no = 0xeceef0;
    c.fp16 = 0xf07c2e;
    c.bf16 = 0x429fe3;
    c.fp8 = 0x2fc79a;
    c.nonfinite = 0xd98cb8;
    return c;
}

constexpr const char* sheetTemplate = R"(
QWidget { color: %text; }
QToolTip { color: %text; background: %surface; border: 1px solid %border; padding: 4px; }
QFrame[card="true"] { background: %surface; border: 1px solid %border; border-radius: 5px; }
QFrame[headline="error"] { background: %errorFill; border: 1px solid %errorBorder; border-radius: 5px; }
QFrame[headline="warning"] { background: %warningFill; border: 1px solid %warningBorder; border-radius: 5px; }
QFrame[headline="ok"] { background: %goodFill; border: 1px solid %goodBorder; border-radius: 5px; }
QFrame[headline="note"] { background: %surface; border: 1px solid %border; border-radius: 5px; }
QLabel[muted="true"] { color: %muted; }
QLabel[title="true"] { font-weight: 600; }
QLabel[badge="true"] { color: %muted; border: 1px solid %border; border-radius: 8px; padding: 0px 10px; }
QPushButton { background: %button; border: 1px solid %border; border-radius: 5px; padding: 4px 12px; }
QPushButton:hover { border-color: %muted; }
QPushButton:pressed { background: %border; }
QPushButton:disabled { color: %muted; }
QPushButton:focus, QToolButton:focus { border: 1px solid %accent; }
QPushButton[primary="true"] { background: %accent; color: %accentText; border-color: %accent; font-weight: 600; }
QPushButton[primary="true"]:hover { background: %accentHover; }
QPushButton[primary="true"]:focus { border: 2px solid %text; padding: 3px 11px; }
QPushButton[primary="true"]:disabled { background: %border; border-color: %border; color: %muted; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 2px 5px; color: %muted; }
QToolButton:hover { color: %text; border-color: %border; }
QToolButton:checked { color: %text; background: %button; border-color: %border; }
QToolButton::menu-indicator { image: none; width: 0px; }
QScrollArea, QScrollArea > QWidget > QWidget[page="true"] { background: transparent; border: none; }
QTableView, QTreeView, QListView { background: %surface; alternate-background-color: %window; border: 1px solid %border;
    gridline-color: %grid; selection-background-color: %accent; selection-color: %accentText; }
QHeaderView::section { background: %surface; color: %muted; border: none; border-bottom: 1px solid %border; padding: 4px 8px; }
QMenu { background: %surface; border: 1px solid %border; padding: 4px; }
QMenu::item { padding: 4px 22px; border-radius: 3px; }
QMenu::item:selected { background: %accent; color: %accentText; }
QMenu::item:disabled { color: %muted; }
QMenu::separator { height: 1px; background: %border; margin: 4px 6px; }
)";

QString filled(QString sheet, const ThemeColours& c) {
    // Longer names first: %accentText must not be eaten by %accent.
    const std::pair<const char*, QColor> names[] = {
        {"%accentHover", c.accent.lighter(115)},
        {"%accentText", c.accentText},
        {"%accent", c.accent},
        {"%errorFill", c.errorFill},
        {"%errorBorder", c.errorBorder},
        {"%warningFill", c.warningFill},
        {"%warningBorder", c.warningBorder},
        {"%warning", c.warning},
        {"%goodFill", c.goodFill},
        {"%goodBorder", c.goodBorder},
        {"%good", c.good},
        {"%surface", c.surface},
        {"%window", c.window},
        {"%button", c.button},
        {"%border", c.border},
        {"%grid", c.grid},
        {"%muted", c.muted},
        {"%text", c.text},
    };
    for (const auto& [name, colour] : names) {
        sheet.replace(QLatin1String(name), colour.name());
    }
    return sheet;
}

QFont windowFont() {
    QFont font = QApplication::font();
    const QStringList known = QFontDatabase::families();
    QStringList families;
    // CJK last: its Latin is good, but its middle dot is as wide as a hanzi. Qt takes it for what the others lack.
    for (const char* family : {"Inter", "Noto Sans", "DejaVu Sans", "Noto Sans CJK SC"}) {
        if (known.contains(QLatin1String(family))) {
            families << QLatin1String(family);
        }
    }
    if (!families.isEmpty()) {
        font.setFamilies(families);
    }
    return font;
}

}  // namespace

Theme::Theme(QObject* parent) : QObject(parent) {
    choose();
    if (qApp) {
        qApp->installEventFilter(this);
    }
}

void Theme::setChoice(Choice choice) {
    m_choice = choice;
    choose();
    if (m_applied) {
        apply();
    }
    Q_EMIT changed();
}

QColor Theme::modeColour(Precision mode) const {
    switch (mode) {
        case Precision::No: return m_colours.no;
        case Precision::Fp16: return m_colours.fp16;
        case Precision::Bf16: return m_colours.bf16;
        case Precision::Fp8: return m_colours.fp8;
    }
    return m_colours.no;
}

QPalette Theme::palette() const {
    const ThemeColours& c = m_colours;
    QPalette palette;
    palette.setColor(QPalette::Window, c.window);
    palette.setColor(QPalette::WindowText, c.text);
    palette.setColor(QPalette::Base, c.surface);
    palette.setColor(QPalette::AlternateBase, c.window);
    palette.setColor(QPalette::Text, c.text);
    palette.setColor(QPalette::PlaceholderText, c.muted);
    palette.setColor(QPalette::Button, c.button);
    palette.setColor(QPalette::ButtonText, c.text);
    palette.setColor(QPalette::BrightText, c.error);
    palette.setColor(QPalette::Highlight, c.accent);
    palette.setColor(QPalette::HighlightedText, c.accentText);
    palette.setColor(QPalette::Link, m_dark ? c.bf16 : c.accent);
    palette.setColor(QPalette::ToolTipBase, c.surface);
    palette.setColor(QPalette::ToolTipText, c.text);
    palette.setColor(QPalette::Mid, c.border);
    palette.setColor(QPalette::Midlight, c.grid);
    palette.setColor(QPalette::Dark, c.border);
    palette.setColor(QPalette::Light, c.surface);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, c.muted);
    }
    return palette;
}

QString Theme::styleSheet() const { return filled(QString::fromLatin1(sheetTemplate), m_colours); }

void Theme::apply() {
    m_applied = true;
    m_choosing = true;  // our own palette is no change of the system's
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setPalette(palette());
    QApplication::setFont(windowFont());
    qApp->setStyleSheet(styleSheet());
    m_choosing = false;
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
    if (watched == qApp && event->type() == QEvent::ApplicationPaletteChange && !m_choosing &&
        m_choice == Choice::System) {
        const bool before = m_dark;
        choose();
        if (m_dark != before) {
            setChoice(Choice::System);
        }
    }
    return QObject::eventFilter(watched, event);
}

void Theme::choose() {
    if (m_choice == Choice::System) {
        // Qt 6.4 has no colour scheme to ask for; an empty palette brings the platform's own back for a moment.
        m_choosing = true;
        const QPalette ours = QApplication::palette();
        QApplication::setPalette(QPalette());
        m_dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
        QApplication::setPalette(ours);
        m_choosing = false;
    } else {
        m_dark = m_choice == Choice::Dark;
    }
    m_colours = m_dark ? darkColours() : lightColours();
}

}  // namespace mantissa::ui
