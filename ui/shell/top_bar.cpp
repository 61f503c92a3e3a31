#include "ui/shell/top_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>

#include "ui/bridge/retranslation.h"
#include "ui/shell/action_catalog.h"
#include "ui/shell/icons.h"

namespace mantissa::ui {

TopBar::TopBar(const ActionCatalog& catalog, QWidget* parent)
    : QFrame(parent),
      m_catalog(catalog),
      m_title(new QLabel(this)),
      m_plan(new QLabel(this)),
      m_commands(new QPushButton(this)),
      m_language(new QPushButton(this)),
      m_menu(new QToolButton(this)) {
    setObjectName(QStringLiteral("TopBar"));
    setFixedHeight(39);
    m_title->setProperty("role", "title");
    m_plan->setProperty("role", "muted");
    m_plan->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_commands->setProperty("role", "link");
    m_commands->setObjectName(QStringLiteral("commandsButton"));
    m_language->setObjectName(QStringLiteral("languageButton"));
    m_language->setText(QStringLiteral("EN / 中文"));
    m_menu->setObjectName(QStringLiteral("menuButton"));
    m_menu->setPopupMode(QToolButton::InstantPopup);
    m_menu->setShortcut(QKeySequence(Qt::Key_F10));
    m_menu->setIconSize(QSize(18, 18));
    m_menu->setMenu(new QMenu(m_menu));

    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 0, 12, 0);
    row->setSpacing(12);
    row->addWidget(m_title);
    row->addWidget(m_plan, 1);
    row->addWidget(m_commands);
    row->addWidget(m_language);
    row->addWidget(m_menu);
    connect(m_commands, &QPushButton::clicked, catalog.action("view.palette"), &QAction::trigger);
    connect(m_language, &QPushButton::clicked, catalog.action("view.language"), &QAction::trigger);

    auto* texts = new Retranslation(this);
    texts->bind([this] {
        const QString keys = m_catalog.action("view.palette")->shortcut().toString(QKeySequence::NativeText);
        m_commands->setText(tr("%1 commands").arg(keys));
        m_language->setAccessibleName(tr("Language"));
        m_language->setToolTip(tr("Language: English / 中文"));
        m_menu->setAccessibleName(tr("Menu"));
        m_menu->setToolTip(tr("Menu (F10)"));
        fillMenu();
    });
}

void TopBar::fillMenu() {
    m_menu->menu()->clear();
    for (const ActionMenu menu : allActionMenus) {
        QMenu* part = m_menu->menu()->addMenu(ActionCatalog::menuTitle(menu));
        for (QAction* action : m_catalog.inMenu(menu)) {
            part->addAction(action);
        }
    }
}

void TopBar::setTitle(const QString& title, const QString& planLine) {
    m_title->setText(title);
    m_planText = planLine;
    elide();
}

QString TopBar::title() const {
    return m_title->text();
}

void TopBar::elide() {
    m_plan->setText(m_plan->fontMetrics().elidedText(m_planText, Qt::ElideRight, qMax(0, m_plan->width())));
    m_plan->setToolTip(m_planText);
}

void TopBar::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    elide();
}

void TopBar::tint(const QColor& colour) {
    m_menu->setIcon(tintedIcon(QStringLiteral("menu"), colour, colour));
}

}  // namespace mantissa::ui
