#pragma once
// The card of the page Replay that comes first: the sentence, what to do next, and the buttons for it. Exactly one button is the main one.
#include <QFrame>

#include "ui/replay/replay_view.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace mantissa::ui {

class Theme;

class ReplayHeadline : public QFrame {
    Q_OBJECT
  public:
    ReplayHeadline(const Theme& theme, QWidget* parent = nullptr);
    /// `problem`: of a replay that couldn't be started; `isOurs`: it can be cancelled here.
    void setView(const ReplayView& view, const QString& problem, bool isOurs, bool isCancelling);
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString nextText() const;

  Q_SIGNALS:
    void replayRequested();
    void cancelRequested();
    void controlRequested();
    void applyRequested();
    void whatIfRequested();
    void bundleRequested();
    void copyRequested();

  private:
    QPushButton* addButton(const char* name);
    void retranslate();
    void refresh();
    void makeMain(QPushButton* main);

    const Theme& m_theme;
    ReplayView m_view;
    QString m_problem;
    bool m_isOurs = false, m_isCancelling = false;
    QLabel *m_sentence, *m_next, *m_evidence, *m_progressText;
    QProgressBar* m_progress;
    QPushButton *m_apply, *m_control, *m_replay, *m_cancel, *m_whatIf, *m_bundle, *m_copy;
};

}  // namespace mantissa::ui
