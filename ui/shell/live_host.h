#pragma once
// Holds the Live page and what it shows. The page's own texts are set when it is made, so a change of
// language makes it anew and shows the same folder again; nothing is lost, because everything it shows comes
// from the recording.
#include <QWidget>
#include <filesystem>
#include <string>

namespace mantissa {
class RunControl;
}

namespace mantissa::ui {

class LivePage;
class RunController;
class Theme;

class LiveHost : public QWidget {
    Q_OBJECT
  public:
    explicit LiveHost(Theme& theme, QWidget* parent = nullptr);
    ~LiveHost() override;

    /// `control`: of a run in this window's worker thread, else null.
    void open(const std::filesystem::path& folder, RunControl* control);
    void openSample(const std::filesystem::path& folder);
    void threadRunEnded();
    void setLanguage(const QString& code);
    [[nodiscard]] bool isSample() const { return m_isSample; }
    /// What is shown; empty before the first.
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    [[nodiscard]] const QString& title() const { return m_title; }
    [[nodiscard]] const QString& subtitle() const { return m_subtitle; }
    [[nodiscard]] RunController& controller();
    [[nodiscard]] LivePage& page() { return *m_page; }

  Q_SIGNALS:
    void titleChanged();
    void folderChanged();
    void controlChanged();
    void checkpointRequested();
    void saveWeightsRequested(const std::filesystem::path& run);
    void continueRequested(const std::filesystem::path& run);
    void replayRequested(const std::filesystem::path& run, std::int64_t step);
    void badStepsChanged();
    void failed(const QString& sentence);
    void setUpRequested();
    void sampleRequested();

  private:
    void makePage();
    void show(const std::filesystem::path& folder);

    Theme& m_theme;
    LivePage* m_page = nullptr;
    std::filesystem::path m_folder;
    RunControl* m_control = nullptr;
    bool m_isSample = false;
    QString m_language, m_title, m_subtitle;
};

}  // namespace mantissa::ui
