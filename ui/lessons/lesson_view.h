#pragma once
// One lesson: question and answers, the locked prediction, the run with its pace, the curve, and what was seen.
#include <QWidget>

#include "ui/charts/step_range.h"
#include "ui/lessons/lesson_runner.h"
#include "ui/lessons/lesson_words.h"

class QButtonGroup;
class QComboBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace mantissa::ui {

class BitInspector;
class OutcomeView;
class RunChart;
class Theme;

class LessonView : public QWidget {
    Q_OBJECT
  public:
    LessonView(Theme& theme, const LessonWords& words, LessonRunner& runner, std::filesystem::path runs, QWidget* parent = nullptr);

    void setLesson(const Lesson& lesson);
    [[nodiscard]] const Lesson& lesson() const { return m_lesson; }
    void retranslate();
    /// Chooses that answer, from 1, and runs.
    void take(int answer);
    /// The key of the chosen answer; empty before one is chosen.
    [[nodiscard]] std::string chosen() const;
    [[nodiscard]] bool isLocked() const { return m_isLocked; }

  Q_SIGNALS:
    void taken(const std::string& lesson);
    void message(const QString& sentence);

  private:
    void build(Theme& theme);
    QWidget* buildControls();
    void buildAnswers();
    void lockAndRun();
    void unlock();
    void showRecorded();
    void showRun(int index);
    void finish();
    void evaluate();
    void savePlayer();
    void writePlayer(const QString& file);
    void setChartRuns();
    void refreshChart();
    void updateControls();

    const LessonWords& m_words;
    LessonRunner& m_runner;
    const std::filesystem::path m_runs;
    Lesson m_lesson;
    bool m_isLocked = false;
    std::string m_prediction;
    QString m_problem;
    std::optional<LessonEvidence> m_evidence;  // of the runs that are shown
    StepRange m_range;
    QLabel *m_title, *m_question, *m_status, *m_paceLabel, *m_look;
    QVBoxLayout* m_answers;
    QButtonGroup* m_group;
    QPushButton *m_run, *m_recorded, *m_pause, *m_one, *m_stop, *m_save;
    QComboBox *m_pace, *m_runChoice;
    RunChart* m_chart;
    BitInspector* m_inspector;
    OutcomeView* m_outcome;
};

}  // namespace mantissa::ui
