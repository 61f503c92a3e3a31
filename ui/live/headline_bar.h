#pragma once
// The one sentence of the page, and behind "Why?" the reasons and verdicts it stands on.
#include <QFrame>
#include <vector>

#include "record/comparison_record.h"
#include "ui/bridge/theme.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace mantissa::ui {

class HeadlineBar : public QFrame {
    Q_OBJECT
  public:
    explicit HeadlineBar(Theme& theme, QWidget* parent = nullptr);

    /// severity: ok note warning error.
    void setHeadline(const QString& text, const QString& severity);
    /// What "Why?" opens; nothing at all hides the button.
    void setGrounds(const std::optional<Decision>& decision, const std::vector<Verdict>& verdicts);
    /// "Why did fp16 stop?": a button of its own, the main one; empty hides it.
    void setQuestion(const QString& question);
    [[nodiscard]] QString text() const;
    [[nodiscard]] QString severity() const { return m_severity; }
    void setExpanded(bool expanded);
    [[nodiscard]] bool isExpanded() const;

  Q_SIGNALS:
    void replayRequested();

  private:
    void paintAll();
    void addLine(const QString& html);
    [[nodiscard]] static QString confidenceWord(const std::string& confidence);

    Theme& m_theme;
    QLabel* m_icon;
    QLabel* m_text;
    QPushButton* m_why;
    QPushButton* m_question;
    QFrame* m_grounds;
    QVBoxLayout* m_lines;
    QString m_severity;
    std::optional<Decision> m_decision;
    std::vector<Verdict> m_verdicts;
};

/// A verdict as rich text: mark of its severity, code's mode, text, evidence.
[[nodiscard]] QString verdictHtml(const Verdict& verdict, const ThemeColours& colours);

}  // namespace mantissa::ui
