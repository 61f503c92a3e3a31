#include "ui/shell/main_frame.h"

#include <QAction>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/bridge/theme.h"
#include "ui/shell/action_catalog.h"
#include "ui/shell/page_rail.h"
#include "ui/shell/sample_banner.h"
#include "ui/shell/status_strip.h"
#include "ui/shell/top_bar.h"
#include "ui/shell/window_style.h"

namespace mantissa::ui {

MainFrame::MainFrame(const Theme& theme, const ActionCatalog& catalog, QWidget* parent)
    : QWidget(parent),
      m_theme(theme),
      m_catalog(catalog),
      m_bar(new TopBar(catalog, this)),
      m_rail(new PageRail(this)),
      m_stack(new QStackedWidget(this)),
      m_strip(new StatusStrip(this)),
      m_sample(new SampleBanner(this)) {
    setObjectName(QStringLiteral("MainFrame"));
    setAttribute(Qt::WA_StyledBackground);
    m_sample->hide();
    auto* page = new QVBoxLayout;
    page->setContentsMargins(0, 0, 0, 0);
    page->setSpacing(0);
    page->addWidget(m_sample);
    page->addWidget(buildScroll(), 1);
    auto* middle = new QHBoxLayout;
    middle->setContentsMargins(0, 0, 0, 0);
    middle->setSpacing(0);
    middle->addWidget(m_rail);
    middle->addLayout(page, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    column->addLayout(middle, 1);
    column->addWidget(m_strip);
    connect(m_rail, &PageRail::pageChosen, this, &MainFrame::pageChosen);
    connect(&theme, &Theme::changed, this, &MainFrame::takeTheme);
    takeTheme();
}

/// A page smaller than it needs (1366×768 at 200 %) scrolls, so that its buttons stay in reach.
QWidget* MainFrame::buildScroll() {
    auto* scroll = new QScrollArea(this);
    scroll->setObjectName(QStringLiteral("pageScroll"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setMinimumSize(480, 200);
    scroll->setWidget(m_stack);
    for (QWidget* clear : {scroll->viewport(), static_cast<QWidget*>(m_stack)}) {
        clear->setAutoFillBackground(false);
    }
    return scroll;
}

void MainFrame::addPage(const QString& id, QWidget* page) {
    m_pages.insert(id, page);
    m_stack->addWidget(page);
    m_rail->addPage(id, id);
    m_rail->tint(m_theme.colours().muted, m_theme.colours().text);
}

void MainFrame::addPageOf(const QString& owner, const QString& id, QWidget* page) {
    m_pages.insert(id, page);
    m_stack->addWidget(page);
    m_owners.insert(id, owner);
}

void MainFrame::showPage(const QString& id) {
    for (QWidget* page : m_pages) {  // only what is shown says how much room is needed
        const auto policy = page == m_pages.value(id) ? QSizePolicy::Preferred : QSizePolicy::Ignored;
        page->setSizePolicy(policy, policy);
    }
    m_stack->setCurrentWidget(m_pages.value(id));
    m_rail->setCurrent(m_owners.value(id, id));
}

void MainFrame::retranslate() {
    for (const QString& id : m_rail->pages()) {
        const QAction* action = m_catalog.action(("page." + id).toLatin1().constData());
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        m_rail->setPageText(id, action->text(), QStringLiteral("%1 (%2)").arg(action->text(), keys));
    }
}

void MainFrame::takeTheme() {
    const ThemeColours& colours = m_theme.colours();
    setStyleSheet(windowStyle(colours));
    m_rail->tint(colours.muted, colours.text);
    m_bar->tint(colours.muted);
}

}  // namespace mantissa::ui
