#include "ui/shell/lessons_desk.h"

#include "ui/lessons/lessons_page.h"

namespace mantissa::ui {

LessonsDesk::LessonsDesk(Theme& theme, const std::filesystem::path& runs, QWidget* parent)
    : QObject(parent), m_page(new LessonsPage(theme, runs, parent)), m_jobs(runs) {
    LessonRunner& runner = m_page->runner();
    connect(&runner, &LessonRunner::startRequested, &m_jobs, &JobStarter::start);
    connect(&m_jobs, &JobStarter::started, &runner, [&runner](const std::filesystem::path& folder, bool) { runner.jobStarted(folder); });
    connect(&m_jobs, &JobStarter::failed, &runner, &LessonRunner::jobFailed);
    connect(m_page, &LessonsPage::titleChanged, this, &LessonsDesk::titleChanged);
    connect(m_page, &LessonsPage::message, this, &LessonsDesk::message);
}

}  // namespace mantissa::ui
