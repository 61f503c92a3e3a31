#pragma once
// Keeps the page Numerics on the folder that Live shows, and hands its wish for another level of watching to Live's controller. Window's
// thread only.
#include <QObject>
#include <string>

namespace mantissa::ui {

class LiveHost;
class NumericsPage;
class Theme;

class NumericsDesk : public QObject {
    Q_OBJECT
  public:
    NumericsDesk(Theme& theme, LiveHost& live, QWidget* parent);

    [[nodiscard]] QWidget* page() const;
    void setLanguage(const std::string& language);

  private:
    void takeFolder();
    void takeControl();

    LiveHost& m_live;
    NumericsPage* m_page;
};

}  // namespace mantissa::ui
