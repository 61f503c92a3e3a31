#pragma once
// "Is my precision really on?" of one mode: the answer with its proof, then the four checks with this run's values. A popup: Esc and a
// click elsewhere close it; every line can be reached with Tab, read aloud and copied. Follows the run while it is open.
#include <QFrame>
#include <vector>

#include "judge/precision_answer.h"
#include "ui/bridge/theme.h"

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace mantissa::ui {

class ChecksPanel : public QFrame {
    Q_OBJECT
  public:
    ChecksPanel(const Theme& theme, QWidget* parent);

    void setAnswer(const PrecisionAnswer& answer);
    /// Below `anchor`, inside its window's screen.
    void openAt(QWidget* anchor);
    [[nodiscard]] QString plainText() const { return m_plain; }

  protected:
    void hideEvent(QHideEvent* event) override;

  private:
    struct Line {
        QLabel* sign;
        QLabel* text;
    };
    Line addLine(QVBoxLayout* column);
    void put(const Line& line, CheckMark mark, const QString& html, const QString& spoken, const std::vector<std::string>& facts);
    void fit();

    const Theme& m_theme;
    QWidget* m_anchor = nullptr;
    QScrollArea* m_scroll;
    QLabel* m_title;
    QFrame* m_box;
    Line m_answer;
    std::vector<Line> m_checks;
    QString m_plain;
};

}  // namespace mantissa::ui
