#include "ui/replay/variant_words.h"

#include <QCoreApplication>

#include "ui/replay/birth_words.h"

namespace mantissa::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::VariantWords)
};

QString text(const std::string& value) { return QString::fromStdString(value); }

QString modeText(Precision mode) { return QLatin1String(to_string(mode)); }

bool isOpen(const VariantReport& variant) { return variant.state == "waiting" || variant.state == "running"; }

/// Of a line that has no answer yet, or never gets one.
std::optional<CellText> unanswered(const VariantReport& variant, bool isOver) {
    if (isOver && isOpen(variant)) {
        return CellText{Words::tr("not tried"), Words::tr("The replay was stopped before its turn. Replay again to try it."), CellTone::Quiet};
    }
    if (variant.state == "waiting") {
        return CellText{QStringLiteral("…"), Words::tr("It waits for its turn."), CellTone::Quiet};
    }
    if (variant.state == "running") {
        return CellText{Words::tr("running…"), {}, CellTone::Quiet};
    }
    if (variant.state == "left_out") {
        return CellText{Words::tr("left out"), text(variant.reason), CellTone::Quiet};
    }
    if (variant.state == "failed") {
        return CellText{Words::tr("failed"), text(variant.reason), CellTone::Bad};
    }
    return std::nullopt;
}

QString lossText(const std::optional<double>& loss) { return loss ? Words::tr("Loss %1.").arg(numberText(*loss)) : QString(); }

}  // namespace

QString changeText(const VariantReport& variant, Precision mode, std::int64_t step) {
    const std::string& id = variant.id;
    const QString own = modeText(variant.mode);
    if (id == "as_was") {
        return Words::tr("%1 as it was").arg(own);
    }
    if (id == "scale_1") {
        return Words::tr("%1, loss scale 1").arg(own);
    }
    if (id == "island") {
        return Words::tr("%1, %2 in fp32").arg(own, text(variant.island));
    }
    if (id == "previous_batch") {
        return Words::tr("%1, the batch before").arg(own);
    }
    if (id == "half_rate") {
        const int earlier = static_cast<int>(step - variant.from_step);
        return earlier > 0 ? Words::tr("half the learning rate, from %n step(s) earlier", nullptr, earlier) : Words::tr("half the learning rate");
    }
    if (id == "custom") {
        QStringList settings;
        for (const std::string& setting : variant.settings) {
            settings << text(setting.substr(setting.rfind('.', setting.find('=')) + 1));  // "learning_rate=0.0015"
        }
        return Words::tr("your own: %1").arg(settings.isEmpty() ? own : settings.join(QStringLiteral(", ")));
    }
    return variant.mode == mode ? text(id) : own;
}

CellText thisStepText(const VariantReport& variant, bool isOver) {
    if (const auto waiting = unanswered(variant, isOver)) {
        return *waiting;
    }
    if (!variant.this_step_finite) {
        return {QStringLiteral("–"), {}, CellTone::Quiet};
    }
    if (*variant.this_step_finite) {
        return {Words::tr("✓ finite"), lossText(variant.loss), CellTone::Good};
    }
    if (variant.value == "skipped") {
        return {Words::tr("✗ skipped"), Words::tr("Loss and outputs are finite; the scaled gradients are not, so the update was left out."), CellTone::Bad};
    }
    const QString place = text(variant.place);
    if (variant.same_place && variant.id != "as_was") {
        return {Words::tr("✗ same %1").arg(text(variant.value)), Words::tr("Born in %1, as in the run.").arg(place), CellTone::Bad};
    }
    const QString details = place.isEmpty() ? QString() : Words::tr("Born in %1.").arg(place);
    return {QStringLiteral("✗ %1").arg(text(variant.value)), details, CellTone::Bad};
}

CellText laterText(const VariantReport& variant, bool isOver) {
    if (isOver && isOpen(variant)) {
        return {QStringLiteral("–"), {}, CellTone::Quiet};
    }
    if (!hasEnded(variant) || variant.state != "done" || variant.later_steps == 0) {
        return {isOpen(variant) ? QStringLiteral("…") : QStringLiteral("–"),
                hasEnded(variant) ? Words::tr("Not tried: the step itself isn't finite.") : QString(), CellTone::Quiet};
    }
    if (variant.later_bad_at) {
        return {Words::tr("✗ bad at +%1").arg(*variant.later_bad_at),
                Words::tr("It went bad again %n step(s) later.", nullptr, static_cast<int>(*variant.later_bad_at)), CellTone::Bad};
    }
    const QString mean = variant.later_loss ? Words::tr("Mean loss of the last five: %1.").arg(numberText(*variant.later_loss)) : QString();
    return {Words::tr("✓ held"), Words::tr("Finite for %n further step(s).", nullptr, static_cast<int>(variant.later_steps)) + QLatin1Char(' ') + mean,
            CellTone::Good};
}

bool isGridOver(const ReplayReport& report) { return report.state != "running"; }

bool hasEnded(const VariantReport& variant) { return variant.state == "done" || variant.state == "failed" || variant.state == "left_out"; }

}  // namespace mantissa::ui
