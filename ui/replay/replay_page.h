#pragma once
// Replay: one bad step of a run, from its folder alone: the sentence, the experiment (what if), the evidence, in this order. What leads to
// another run or to a file is asked of the shell by signals. Window's thread only.
#include <QWidget>
#include <filesystem>
#include <memory>

#include "ui/bridge/replay_follower.h"
#include "ui/replay/replay_view.h"

class QFrame;
class QLabel;
class QPushButton;
class QTableView;
class QToolButton;

namespace mantissa::ui {

class EvidencePanel;
class ReplayHeadline;
class Theme;
class WhatIfModel;

class ReplayPage : public QWidget {
    Q_OBJECT
  public:
    explicit ReplayPage(const Theme& theme, QWidget* parent = nullptr);
    ~ReplayPage() override;

    void showStep(const std::filesystem::path& run, std::int64_t step);
    /// Of the verdict's texts: "en" or "zh".
    void setLanguage(const std::string& language);
    [[nodiscard]] const ReplayFollower* follower() const { return m_follower.get(); }
    [[nodiscard]] const ReplayView& view() const { return m_view; }
    [[nodiscard]] EvidencePanel& evidence() { return *m_evidence; }
    [[nodiscard]] WhatIfModel& grid() { return *m_grid; }

  public Q_SLOTS:
    void replayNow();
    void askWhatIf();
    void copyAsText();
    /// Asks first: without its states a step is replayed from the seed.
    void askToFreeStates();

  Q_SIGNALS:
    void titleChanged(const QString& title, const QString& subtitle);
    void backRequested();
    void applyRequested();
    void controlRequested();
    void bundleRequested();
    void message(const QString& sentence);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    QWidget* buildTop();
    QFrame* buildGrid();
    void connectHeadline();
    void retranslate();
    void refresh();
    void setTop(QLabel* label, const CellText& cell);

    const Theme& m_theme;
    std::string m_language = "en";
    std::unique_ptr<ReplayFollower> m_follower;
    ReplayView m_view;
    QToolButton* m_back;
    QLabel *m_place, *m_reproduced, *m_control, *m_effort;
    ReplayHeadline* m_headline;
    QWidget* m_body;
    QFrame* m_gridCard;
    QLabel *m_gridTitle, *m_gridSubject, *m_noGrid, *m_states;
    QTableView* m_table;
    WhatIfModel* m_grid;
    QPushButton* m_free;
    EvidencePanel* m_evidence;
};

}  // namespace mantissa::ui
