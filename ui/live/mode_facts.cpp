#include "ui/live/mode_facts.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mantissa::ui {
namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::ModeFacts)
};

QString text(const std::string& value) { return QString::fromStdString(value); }

void setSupport(ModeFacts& facts, Support support, const std::string& reason) {
    facts.badgeTip = text(reason);
    facts.isEmulated = support == Support::Emulated;
    switch (support) {
        case Support::Native: facts.badge = Texts::tr("native"); break;
        case Support::Emulated: facts.badge = Texts::tr("emulated"); break;
        case Support::Unsupported: facts.badge = Texts::tr("unsupported"); break;
    }
    if (facts.mode == Precision::No) {
        facts.badge = Texts::tr("control");
    }
}

void setTrial(ModeFacts& facts, const TrialReport& trial) {
    setSupport(facts, trial.choice.support, trial.choice.reason);
    if (!trial.runs) {
        facts.tone = StripTone::Bad;
        facts.progressText = Texts::tr("✗ refused");
        facts.reason = text(trial.refusal);
        return;
    }
    facts.progressText = Texts::tr("trial ✓");
    facts.stepTime = text(readable_number(trial.step_ms)) + QStringLiteral(" ms");
    facts.memory = text(readable_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(trial.memory_peak_bytes, 0))));
}

QString progressOf(const RunFollower& run, int done, int planned, StripTone& tone) {
    const QString reached = planned > 0 ? Texts::tr("%1 / %2").arg(done).arg(planned) : QString::number(done);
    const std::int64_t last = run.series().isEmpty() ? 0 : run.series().steps().back();
    switch (run.state().state) {
        case RunState::Queued: tone = StripTone::Waiting; return Texts::tr("waiting");
        case RunState::Trial: tone = StripTone::Waiting; return Texts::tr("trying…");
        case RunState::Running: return reached;
        case RunState::Paused: tone = StripTone::Waiting; return Texts::tr("paused at %1").arg(last);
        case RunState::Finished: return Texts::tr("✓ %1").arg(reached);
        case RunState::StoppedNonfinite: tone = StripTone::Bad; return Texts::tr("■ stopped at %1").arg(last);
        case RunState::Stopped: return Texts::tr("■ stopped at %1").arg(last);
        case RunState::Interrupted: return Texts::tr("■ interrupted at %1").arg(last);
        case RunState::Failed: tone = StripTone::Bad; return Texts::tr("✗ failed at %1").arg(last);
        case RunState::Lost: tone = StripTone::Bad; return Texts::tr("✗ lost at %1").arg(last);
    }
    return reached;
}

/// The newest validation value of the metric that counts, fp32 evaluation first.
void setMetric(ModeFacts& facts, const RunFollower& run) {
    if (!run.summary() || run.summary()->metric_name.empty()) {
        return;  // which metric counts isn't known yet: a loss in its place would be read as an accuracy
    }
    const QString wanted = text(run.summary()->metric_name);
    const EvaluationRow* best = nullptr;
    for (const EvaluationRow& row : run.evaluations()) {
        const bool counts = row.split == "validation" && text(row.metric) == wanted;
        if (counts && (!best || row.step > best->step || (row.step == best->step && row.precision == "fp32"))) {
            best = &row;
        }
    }
    if (best) {
        facts.metricName = text(best->metric);
        facts.metric = text(best->metric == "accuracy" ? readable_percent(best->value) : readable_number(best->value));
    }
}

void setRun(ModeFacts& facts, const RunFollower& run) {
    const RunSeries& series = run.series();
    if (const auto& summary = run.summary()) {
        facts.isEffectKnown = true;
        facts.isOn = summary->effective == summary->requested;
        facts.planned = static_cast<int>(summary->planned_steps);
        setSupport(facts, summary->support, summary->support_reason);
    }
    facts.done = static_cast<int>(series.size());
    facts.reason = text(run.state().reason);
    // A run stays in its trial state until the trials of all modes are done: what its own one gave is the newer word.
    const bool isWaiting = run.state().state == RunState::Queued || run.state().state == RunState::Trial;
    const bool hasStarted = !isWaiting || !series.isEmpty();
    if (hasStarted || facts.progressText.isEmpty()) {
        facts.tone = StripTone::Normal;
        facts.progressText = progressOf(run, facts.done, facts.planned, facts.tone);
    }
    if (!run.problem().isEmpty()) {
        facts.tone = StripTone::Bad;
        facts.progressText = Texts::tr("✗ can't be read");
        facts.reason = run.problem();
    }
    if (series.isEmpty()) {
        return;
    }
    facts.loss = series.column(Quantity::Loss).back();
    facts.lossIsBad = !std::isfinite(*facts.loss);
    if (const auto milliseconds = series.recentStepMilliseconds()) {
        facts.stepTime = text(readable_number(*milliseconds)) + QStringLiteral(" ms");
    }
    if (series.memoryPeakBytes() > 0) {
        facts.memory = text(readable_bytes(static_cast<std::uint64_t>(series.memoryPeakBytes())));
    }
    setMetric(facts, run);
}

QString sourcesCheck(const ModeFacts& facts, const RunFollower* run) {
    if (!run || !run->summary()) {
        return Texts::tr("– Sources: not known before the run has started.");
    }
    const QString asked = QString::fromLatin1(to_string(run->summary()->requested));
    const QString effective = QString::fromLatin1(to_string(run->summary()->effective));
    return facts.isOn ? Texts::tr("✓ Sources: %1 was asked for and %2 is in effect.").arg(asked, effective)
                      : Texts::tr("✗ Sources: %1 was asked for, but %2 is in effect. See the sources of this setting in Set up.")
                            .arg(asked, effective);
}

QString supportCheck(const ModeFacts& facts, const TrialReport* trial) {
    QString line = facts.badge.isEmpty() ? Texts::tr("– Support: not asked yet.")
                                         : Texts::tr("✓ Support: %1. %2").arg(facts.badge, facts.badgeTip);
    if (trial && !trial->runs) {
        return Texts::tr("✗ Support: one batch of this model was refused: %1").arg(text(trial->refusal));
    }
    if (trial && trial->multiply_adds > 0 && facts.mode != Precision::No) {
        line += QLatin1Char(' ') +
                Texts::tr("%1 of %2 kinds of op gave half-width results, with %3 of the multiply-adds.")
                    .arg(trial->op_kinds_half)
                    .arg(trial->op_kinds)
                    .arg(text(readable_percent(static_cast<double>(trial->multiply_adds_half) /
                                               static_cast<double>(trial->multiply_adds), 0)));
    }
    return line;
}

QString numbersCheck(const RunFollower* run) {
    if (!run || run->series().isEmpty()) {
        return Texts::tr("– Loss, gradients, skips: no step yet.");
    }
    const RunSeries& series = run->series();
    const std::int64_t bad = series.count(StepFate::Nonfinite), faults = series.skipped(SkipKind::Fault);
    return Texts::tr("%1 Loss, gradients, skips: %2 steps not finite, %3 skipped while probing, %4 skipped as faults.")
        .arg(bad + faults == 0 ? QStringLiteral("✓") : QStringLiteral("✗"))
        .arg(bad)
        .arg(series.skipped(SkipKind::Probing))
        .arg(faults);
}

QString backendCheck(const ModeFacts& facts) {
    if (facts.mode != Precision::Fp8) {
        return Texts::tr("– fp8 backend: not needed, this mode isn't fp8.");
    }
    return Texts::tr("%1 fp8 backend: %2").arg(facts.badge.isEmpty() ? QStringLiteral("–") : QStringLiteral("✓"), facts.badgeTip);
}

}  // namespace

ModeFacts modeFacts(Precision mode, const TrialReport* trial, const RunFollower* run, bool isTrialNow) {
    ModeFacts facts;
    facts.mode = mode;
    if (trial) {
        setTrial(facts, *trial);
    } else if (isTrialNow) {
        facts.progressText = Texts::tr("trying…");
    }
    const bool wasRefused = trial && !trial->runs;
    if (run && !(wasRefused && run->series().isEmpty())) {
        setRun(facts, *run);
    }
    return facts;
}

QStringList fourChecks(const ModeFacts& facts, const TrialReport* trial, const RunFollower* run) {
    return {sourcesCheck(facts, run), supportCheck(facts, trial), numbersCheck(run), backendCheck(facts)};
}

}  // namespace mantissa::ui
