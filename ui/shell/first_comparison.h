#pragma once
// The comparison that a new user meets: the recorded sample, the line above it, and a comparison that waits until the engine has been
// built and has answered. Window's thread only.
#include <QObject>

namespace mantissa::ui {

class LiveHost;
class SampleBanner;
class SetupPage;

class FirstComparison : public QObject {
    Q_OBJECT
  public:
    FirstComparison(SampleBanner& banner, LiveHost& live, SetupPage& setup, QObject* parent = nullptr);

    void showSample();
    /// At once, or as soon as the engine is there.
    void startWhenReady();
    /// The machine's answer is new, or the language.
    void refresh();

  Q_SIGNALS:
    void pageWanted(const QString& id);
    void message(const QString& sentence);

  private:
    void trySample();

    SampleBanner& m_banner;
    LiveHost& m_live;
    SetupPage& m_setup;
    bool m_isPending = false;
};

}  // namespace mantissa::ui
