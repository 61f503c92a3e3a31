#include "ui/live/mode_facts.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "judge/op_share.h"

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
        const auto share = op_share(run.opDtypes(), std::nullopt);
        const bool ranInHalf = facts.mode == Precision::No || !share || share->kinds_half > 0;
        facts.isOn = summary->effective == summary->requested && ranInHalf;
        facts.planned = static_cast<int>(summary->planned_steps);
        setSupport(facts, summary->support, summary->support_reason);
    }
    // Steps of the plan: a run that goes on from a checkpoint begins at a later one.
    facts.done = series.isEmpty() ? 0 : static_cast<int>(series.steps().back()) + 1;
    facts.reason = text(run.state().reason);
    // A run stays in its trial state until the trials of all modes are done: what its own one gave is the newer word.
    const bool isWaiting = run.state().state == RunState::Queued || run.state().state == RunState::Trial;
    const bool hasStarted = !isWaiting || !series.isEmpty();
    if (hasStarted || facts.progressText.isEmpty()) {
        facts.tone = StripTone::Normal;
        facts.progressText = progressOf(run, facts.done, facts.planned, facts.tone);
    }
    if (run.stall()) {
        facts.tone = StripTone::Stalled;
        facts.progressText = Texts::tr("no progress for %1 s").arg(run.stall()->seconds);
        facts.reason = facts.planned > 0 ? Texts::tr("%1 / %2").arg(facts.done).arg(facts.planned) : QString();
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

/// First and last value of a column; empty when nothing was measured.
std::pair<std::optional<double>, std::optional<double>> ends(const RunSeries& series, Quantity quantity) {
    const std::vector<double>& values = series.column(quantity);
    return values.empty() ? std::pair<std::optional<double>, std::optional<double>>()
                          : std::pair<std::optional<double>, std::optional<double>>(values.front(), values.back());
}

void takeSeries(PrecisionEvidence& evidence, const RunSeries& series) {
    evidence.steps = static_cast<std::int64_t>(series.size());
    evidence.applied = series.appliedSteps();
    evidence.probing = series.skipped(SkipKind::Probing);
    evidence.faults = series.skipped(SkipKind::Fault);
    for (const StepMark& mark : series.marks()) {
        if (mark.fate == StepFate::Nonfinite) {
            ++(mark.lossIsFinite ? evidence.nonfinite_gradients : evidence.nonfinite_losses);
            evidence.first_nonfinite = std::min(evidence.first_nonfinite.value_or(mark.step), mark.step);
        }
    }
    std::tie(evidence.loss_start, evidence.loss_now) = ends(series, Quantity::Loss);
    std::tie(evidence.norm_start, evidence.norm_now) = ends(series, Quantity::GradientNorm);
    if (series.hasLossScale()) {
        std::tie(evidence.scale_start, evidence.scale_now) = ends(series, Quantity::LossScale);
    }
}

}  // namespace

ModeFacts modeFacts(Precision mode, const TrialReport* trial, const RunFollower* run, bool isTrialNow) {
    ModeFacts facts;
    facts.mode = mode;
    facts.hasRun = run != nullptr;
    if (trial) {
        setTrial(facts, *trial);
    } else if (isTrialNow) {
        facts.progressText = Texts::tr("trying…");
    }
    const bool wasRefused = trial && !trial->runs;
    if (run && !(wasRefused && run->series().isEmpty())) {
        setRun(facts, *run);
    }
    if (wasRefused || (run && run->hasEnded() && run->series().isEmpty())) {
        facts.isEffectKnown = true;  // nothing ran in it
        facts.isOn = false;
    }
    return facts;
}

PrecisionEvidence precisionEvidence(Precision mode, const TrialReport* trial, const RunFollower* run) {
    PrecisionEvidence evidence;
    evidence.mode = mode;
    if (trial) {
        evidence.trial = *trial;
        evidence.support = trial->choice.support;
        evidence.support_reason = trial->choice.reason;
    }
    if (!run) {
        return evidence;
    }
    evidence.state = run->state().state;
    evidence.state_reason = run->state().reason;
    if (const auto& summary = run->summary(); summary && !summary->device.empty()) {
        evidence.requested = summary->requested;
        evidence.effective = summary->effective;
        evidence.support = summary->support;
        evidence.support_reason = summary->support_reason;
        evidence.device = summary->device;
        evidence.device_name = summary->device_name;
        evidence.planned = summary->planned_steps;
        evidence.linear_layers = summary->linear_layers;
    }
    takeSeries(evidence, run->series());
    if (run->summary() && run->summary()->resumed) {
        evidence.applied = std::max<std::int64_t>(0, evidence.applied - run->summary()->resumed->applied_steps);
    }
    evidence.ops = run->opDtypes();
    evidence.plan_json = run->planJson();
    return evidence;
}

}  // namespace mantissa::ui
