#include "ui/setup/modes_row.h"

#include <algorithm>

#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"
#include "ui/setup/caption_button.h"
#include "ui/setup/machine_probe.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {

ModesRow::ModesRow(const Theme& theme, PlanEditor& editor, const MachineProbe& probe, QWidget* parent)
    : QuestionRow(3, "modesRow", parent), m_theme(theme), m_editor(editor), m_probe(probe) {
    for (const Precision mode : all_precisions) {
        auto* chip = new CaptionButton(theme, CaptionButton::Mark::CheckBox, this);
        chip->setObjectName(QStringLiteral("mode.") + QLatin1String(to_string(mode)));
        chip->setPinned(mode == Precision::No);
        addControl(chip);
        m_chips[static_cast<size_t>(mode)] = chip;
        connect(chip, &CaptionButton::clicked, this, &ModesRow::takeChips);
    }
    connect(&theme, &Theme::changed, this, &ModesRow::refresh);
    connect(&editor, &PlanEditor::changed, this, &ModesRow::refresh);
    connect(&editor, &PlanEditor::errorsChanged, this, &ModesRow::refresh);
    connect(&probe, &MachineProbe::changed, this, &ModesRow::refresh);
    texts().bind([this] {
        setQuestion(tr("Compare"));
        refresh();
    });
}

void ModesRow::takeChips() {
    std::vector<Precision> modes;
    for (const Precision mode : all_precisions) {
        if (chip(mode)->isChecked()) {
            modes.push_back(mode);
        }
    }
    if (!m_editor.setModes(modes)) {
        refresh();
    }
}

void ModesRow::refresh() {
    QStringList reasons;
    for (const Precision mode : all_precisions) {
        refreshChip(mode, reasons);
    }
    QString answer = reasons.join(QStringLiteral(" · "));
    if (answer.isEmpty()) {
        answer = m_probe.state() == MachineProbe::State::Asking
                     ? tr("asking this machine…")
                     : tr("“no” is the control of every comparison");
    }
    QString problem = m_editor.error("modes");
    setAnswer(answer, problem.isEmpty() ? m_editor.error("mixed_precision") : problem);
}

// Native from compute capability 8.9; a CPU emulates it where that is allowed.
ModesRow::Fp8Answer ModesRow::fp8Answer(const DeviceReport& device, const ModeSupport& support) const {
    if (support.support == Support::Native) {
        return {tr("native"), tr("%1 has fp8 units. Linear layers run in fp8, the rest in bf16.").arg(QString::fromStdString(device.name)), true};
    }
    if (device.id != "cpu") {
        return {{},
                tr("fp8 needs compute capability 8.9 or more; %1 has %2")
                    .arg(QString::fromStdString(device.name), QString::fromStdString(device.capability)),
                false};
    }
    if (m_editor.plan().allow_emulated) {
        return {tr("emulated"), tr("A CPU has no fp8 units: fp8 is emulated, because “Allow emulated modes” is on. Its numbers count, its speed says nothing."),
                true};
    }
    return {{}, tr("fp8 needs a GPU of compute capability 8.9 or more; to emulate it here, turn on “Allow emulated modes” below"), false};
}

void ModesRow::refreshChip(Precision mode, QStringList& reasons) {
    const auto& modes = m_editor.plan().modes;
    CaptionButton* button = chip(mode);
    const bool chosen = mode == Precision::No || std::find(modes.begin(), modes.end(), mode) != modes.end();
    QString word, reason;
    bool possible = true;
    const DeviceReport* device = m_probe.device(m_editor.plan().device);
    const ModeSupport* support = device == nullptr ? nullptr : MachineProbe::supportOf(*device, mode);
    if (mode == Precision::No) {
        word = tr("control");
        reason = tr("The control is part of every comparison.");
    } else if (support != nullptr && mode == Precision::Fp8) {
        const Fp8Answer answer = fp8Answer(*device, *support);
        word = answer.word;
        reason = answer.reason;
        possible = answer.isPossible;
        if (!possible) {
            reasons << reason;
        }
    } else if (support != nullptr) {
        reason = QString::fromStdString(support->reason);
        switch (support->support) {
            case Support::Native:
                word = tr("native");
                break;
            case Support::Emulated:
                word = tr("emulated");
                break;
            case Support::Unsupported:
                possible = false;
                reasons << (reason.startsWith(QLatin1String(to_string(mode)))
                                ? reason
                                : QStringLiteral("%1: %2").arg(QLatin1String(to_string(mode)), reason));
                break;
        }
    } else if (mode == Precision::Fp8) {
        possible = false;
        reason = tr("fp8 needs a GPU of compute capability 8.9 or more");
        reasons << reason;
    }
    button->setChecked(chosen);
    // A chosen mode can always be taken away, also where it isn't possible.
    button->setEnabled(possible || (chosen && mode != Precision::No));
    button->setEdge(m_theme.modeColour(mode));
    button->setCaption(QLatin1String(to_string(mode)), word);
    button->setToolTip(reason);
}

}  // namespace mantissa::ui
