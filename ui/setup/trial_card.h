#pragma once
// The trial's answers as a small table: runs, time of a step, peak memory, share in half precision, headroom;
// or why not.
#include <QFrame>
#include <vector>

class QGridLayout;
class QLabel;

namespace mantissa::ui {

class ModelTrial;
class Theme;

class TrialCard : public QFrame {
    Q_OBJECT
  public:
    TrialCard(const Theme& theme, const ModelTrial& trial, QWidget* parent = nullptr);
    /// Shown in place of the sub-title while no engine is there; empty = normal.
    void setNotice(const QString& notice);

  private:
    struct Line {
        QLabel *mode, *badge, *runs, *step, *memory, *half, *headroom;
        QFrame* rule;
        QWidget* modeCell;
    };
    void makeLine();
    void fill();
    void fillNotes();
    void fillLine(const Line& line, size_t index);
    void retranslate();

    const Theme& m_theme;
    const ModelTrial& m_trial;
    QLabel *m_title, *m_subtitle;
    std::vector<QLabel*> m_heads;
    std::vector<Line> m_lines;
    QGridLayout* m_grid;
    QLabel* m_notes;  // what in the model will surprise
    QString m_notice;
};

}  // namespace mantissa::ui
