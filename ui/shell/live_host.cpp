#include "ui/shell/live_host.h"

#include <QVBoxLayout>

#include "ui/live/live_page.h"

namespace mantissa::ui {

LiveHost::LiveHost(Theme& theme, QWidget* parent) : QWidget(parent), m_theme(theme) {
    setFocusPolicy(Qt::ClickFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    makePage();
}

LiveHost::~LiveHost() = default;

void LiveHost::makePage() {
    delete m_page;
    m_page = new LivePage(m_theme, this);
    m_page->setLanguage(m_language == QLatin1String("zh") ? "zh" : "en");
    layout()->addWidget(m_page);
    connect(m_page, &LivePage::titleChanged, this, [this](const QString& title, const QString& subtitle) {
        m_title = title;
        m_subtitle = subtitle;
        Q_EMIT titleChanged();
    });
    connect(m_page, &LivePage::failed, this, &LiveHost::failed);
    connect(m_page, &LivePage::setUpRequested, this, &LiveHost::setUpRequested);
    connect(m_page, &LivePage::openSampleRequested, this, &LiveHost::sampleRequested);
    connect(m_page, &LivePage::checkpointRequested, this, &LiveHost::checkpointRequested);
    connect(m_page, &LivePage::saveWeightsRequested, this, &LiveHost::saveWeightsRequested);
    connect(m_page, &LivePage::continueRequested, this, &LiveHost::continueRequested);
    connect(m_page, &LivePage::replayRequested, this, &LiveHost::replayRequested);
    connect(m_page, &LivePage::badStepsChanged, this, &LiveHost::badStepsChanged);
    connect(&m_page->controller(), &RunController::changed, this, &LiveHost::controlChanged);
}

void LiveHost::show(const std::filesystem::path& folder) {
    m_title.clear();
    m_subtitle.clear();
    m_page->showComparison(folder);
    if (m_control != nullptr) {
        m_page->controller().setThreadControl(m_control);
    }
}

void LiveHost::open(const std::filesystem::path& folder, RunControl* control) {
    m_isSample = false;
    m_folder = folder;
    m_control = control;
    show(folder);
    Q_EMIT folderChanged();
}

void LiveHost::openSample(const std::filesystem::path& folder) {
    open(folder, nullptr);
    m_isSample = true;
}

void LiveHost::threadRunEnded() {
    if (m_control != nullptr) {
        m_control = nullptr;
        m_page->controller().setThreadControl(nullptr);
    }
}

void LiveHost::setLanguage(const QString& code) {
    if (code == m_language) {
        return;
    }
    const bool isFirst = m_language.isEmpty();
    m_language = code;
    if (isFirst && code == QLatin1String("en")) {
        return;  // made in English
    }
    const LiveView view = m_page->view();
    makePage();
    if (!m_folder.empty()) {
        show(m_folder);
    }
    m_page->setView(view);  // what was chosen to look at is no matter of language
}

RunController& LiveHost::controller() {
    return m_page->controller();
}

}  // namespace mantissa::ui
