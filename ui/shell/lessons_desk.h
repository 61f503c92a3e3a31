#pragma once
// The page Lessons and the jobs that it asks for: Set up's own starter leads to Live, and this page wants to stay.
#include <QObject>
#include <filesystem>

#include "ui/setup/job_starter.h"

namespace mantissa::ui {

class LessonsPage;
class Theme;

class LessonsDesk : public QObject {
    Q_OBJECT
  public:
    LessonsDesk(Theme& theme, const std::filesystem::path& runs, QWidget* parent);
    [[nodiscard]] LessonsPage& page() { return *m_page; }

  Q_SIGNALS:
    void titleChanged();
    void message(const QString& sentence);

  private:
    LessonsPage* m_page;
    JobStarter m_jobs;
};

}  // namespace mantissa::ui
