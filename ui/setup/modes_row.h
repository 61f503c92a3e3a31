#pragma once
// 3 Compare: one chip per precision mode with native, emulated or unsupported, as the probe found them; the
// reason beside.
#include <array>

#include "record/reports.h"
#include "ui/setup/question_row.h"

namespace mantissa::ui {

class CaptionButton;
class MachineProbe;
class PlanEditor;
class Theme;

class ModesRow : public QuestionRow {
    Q_OBJECT
  public:
    ModesRow(const Theme& theme, PlanEditor& editor, const MachineProbe& probe, QWidget* parent = nullptr);
    [[nodiscard]] CaptionButton* chip(Precision mode) const { return m_chips[static_cast<size_t>(mode)]; }

  private:
    void takeChips();
    void refresh();
    void refreshChip(Precision mode, QStringList& reasons);
    struct Fp8Answer {
        QString word, reason;
        bool isPossible = false;
    };
    [[nodiscard]] Fp8Answer fp8Answer(const DeviceReport& device, const ModeSupport& support) const;

    const Theme& m_theme;
    PlanEditor& m_editor;
    const MachineProbe& m_probe;
    std::array<CaptionButton*, 4> m_chips{};
};

}  // namespace mantissa::ui
