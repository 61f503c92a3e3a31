#pragma once
// One line per mode: swatch, name, "on ✓" (opens the four checks), badge, progress, loss, validation, time, memory.
#include <QFrame>
#include <QPointer>
#include <functional>
#include <memory>
#include <vector>

#include "ui/bridge/theme.h"
#include "ui/live/mode_facts.h"

class QGridLayout;
class QToolButton;

namespace mantissa {
struct PrecisionAnswer;
}

namespace mantissa::ui {

class ChecksPanel;

class ModeStrips : public QFrame {
    Q_OBJECT
  public:
    explicit ModeStrips(Theme& theme, QWidget* parent = nullptr);
    ~ModeStrips() override;

    void setModes(const std::vector<Precision>& modes);
    void setFacts(std::size_t row, const ModeFacts& facts);
    /// Asked when a strip's checks are opened, and again at `refreshChecks` while they are.
    void setAnswers(std::function<PrecisionAnswer(std::size_t row)> answers) { m_answers = std::move(answers); }
    void refreshChecks();

  Q_SIGNALS:
    void saveWeightsRequested(std::size_t row);
    void continueRequested(std::size_t row);
    void folderRequested(std::size_t row);
    void replayRequested(std::size_t row);

  private:
    struct Strip;

    std::unique_ptr<Strip> makeStrip(Precision mode, int row);
    QToolButton* makeMenu(Precision mode, std::size_t row);
    void paintStrip(Strip& strip);
    void openChecks(std::size_t row);

    Theme& m_theme;
    QGridLayout* m_grid;
    std::vector<std::unique_ptr<Strip>> m_strips;
    std::function<PrecisionAnswer(std::size_t)> m_answers;
    QPointer<ChecksPanel> m_panel;
    std::size_t m_panelRow = 0;
};

}  // namespace mantissa::ui
