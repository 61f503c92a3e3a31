#pragma once
// One line per mode: swatch, name, "on ✓" (opens the four checks), badge, progress, loss, validation, time, memory.
#include <QFrame>
#include <memory>
#include <vector>

#include "ui/bridge/theme.h"
#include "ui/live/mode_facts.h"

class QGridLayout;

namespace mantissa::ui {

class ModeStrips : public QFrame {
    Q_OBJECT
  public:
    explicit ModeStrips(Theme& theme, QWidget* parent = nullptr);
    ~ModeStrips() override;

    void setModes(const std::vector<Precision>& modes);
    void setFacts(std::size_t row, const ModeFacts& facts, const QStringList& checks);

  private:
    struct Strip;

    std::unique_ptr<Strip> makeStrip(Precision mode, int row);
    void paintStrip(Strip& strip);
    void openChecks(const Strip& strip);

    Theme& m_theme;
    QGridLayout* m_grid;
    std::vector<std::unique_ptr<Strip>> m_strips;
};

}  // namespace mantissa::ui
