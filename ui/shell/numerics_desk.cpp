#include "ui/shell/numerics_desk.h"

#include "ui/bridge/run_controller.h"
#include "ui/numerics/numerics_page.h"
#include "ui/shell/live_host.h"

namespace mantissa::ui {

NumericsDesk::NumericsDesk(Theme& theme, LiveHost& live, QWidget* parent)
    : QObject(parent), m_live(live), m_page(new NumericsPage(theme, parent)) {
    connect(&live, &LiveHost::folderChanged, this, &NumericsDesk::takeFolder);
    // Queued: Live lets go of its runs while it is taken down, and must not be asked about them then.
    connect(&live, &LiveHost::controlChanged, this, &NumericsDesk::takeControl, Qt::QueuedConnection);
    connect(m_page, &NumericsPage::watchRequested, this, [this](int level) { m_live.controller().watch(level); });
    takeControl();
}

QWidget* NumericsDesk::page() const { return m_page; }

void NumericsDesk::setLanguage(const std::string& language) { m_page->setLanguage(language); }

void NumericsDesk::takeFolder() { m_page->showFolder(m_live.folder()); }

void NumericsDesk::takeControl() { m_page->setControl(m_live.controller().isAvailable(), m_live.controller().reason()); }

}  // namespace mantissa::ui
