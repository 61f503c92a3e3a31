#include "ui/replay/replay_view.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "base/numbers.h"
#include "judge/finding.h"
#include "judge/format_lens.h"
#include "ui/bridge/phase_words.h"
#include "ui/replay/birth_words.h"

namespace mantissa::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::ReplayView)
};

QString text(const std::string& value) { return QString::fromStdString(value); }

Precision modeOf(const ReplaySnapshot& snapshot) {
    if (snapshot.replay) {
        return snapshot.replay->mode;
    }
    return snapshot.incident ? snapshot.incident->mode : (snapshot.run ? snapshot.run->mode : Precision::No);
}

QString titleOf(const ReplaySnapshot& snapshot, Precision mode, std::int64_t step) {
    const QString name = QLatin1String(to_string(mode));
    if (snapshot.replay && snapshot.replay->is_what_if) {
        return Words::tr("What if: step %2 of %1").arg(name).arg(step);
    }
    const bool isStopped = snapshot.run && snapshot.run->state == RunState::StoppedNonfinite;
    return isStopped ? Words::tr("Why did %1 stop?").arg(name) : Words::tr("What went wrong in %1?").arg(name);
}

QString subtitleOf(const std::string& planJson) {
    QJsonObject plan = QJsonDocument::fromJson(QByteArray::fromStdString(planJson)).object();
    plan = plan.contains(QLatin1String("plan")) ? plan.value(QLatin1String("plan")).toObject() : plan;
    const QJsonObject training = plan.value(QLatin1String("training")).toObject();
    const QJsonObject optimizer = training.value(QLatin1String("optimizer")).toObject();
    if (training.isEmpty()) {
        return {};
    }
    return Words::tr("%1 · %2 · batch %3 · learning rate %4 · seed %5")
        .arg(plan.value(QLatin1String("name")).toString(), plan.value(QLatin1String("dataset")).toObject().value(QLatin1String("name")).toString())
        .arg(training.value(QLatin1String("batch_size")).toInteger())
        .arg(QString::number(optimizer.value(QLatin1String("learning_rate")).toDouble()))
        .arg(training.value(QLatin1String("seed")).toInteger());
}

CellText reproducedText(const ReplayReport& replay) {
    const QString why = text(replay.reproduced_reason);
    switch (*replay.reproduced) {
        case Reproduced::Bits:
            return {Words::tr("reproduced: same bits ✓"), Words::tr("Every step up to this one came out bit for bit as it was recorded."), CellTone::Good};
        case Reproduced::Pattern:
            return {Words::tr("reproduced: same pattern ✓"), Words::tr("The bits differ, the bad step and its place are the same. %1").arg(why),
                    CellTone::Good};
        case Reproduced::No: return {Words::tr("not reproduced ✗"), why, CellTone::Bad};
    }
    return {};
}

CellText controlText(const ReplaySnapshot& snapshot, Precision mode) {
    if (mode == Precision::No) {
        return {};
    }
    std::optional<bool> isFinite = snapshot.isControlFinite;
    if (snapshot.replay && snapshot.replay->control_finite) {
        isFinite = snapshot.replay->control_finite;
    }
    if (isFinite) {
        return *isFinite ? CellText{Words::tr("control finite ✓"), Words::tr("The run in mode no is finite at this step."), CellTone::Quiet}
                         : CellText{Words::tr("control not finite ✗"), Words::tr("The run in mode no is bad at this step too: precision isn't the cause."),
                                    CellTone::Bad};
    }
    return snapshot.control.empty() ? CellText{Words::tr("no control run"), Words::tr("No run in mode no of this plan says whether precision is the cause."), CellTone::Bad}
                                    : CellText{Words::tr("control not there yet"), Words::tr("The run in mode no hasn't come to this step."), CellTone::Quiet};
}

ReplayStage stageOf(const ReplaySnapshot& snapshot, Precision mode, bool isReplaying) {
    if (!snapshot.problem.empty()) {
        return ReplayStage::Unreadable;
    }
    const auto& replay = snapshot.replay;
    if (isReplaying || (replay && replay->state == "running")) {
        return ReplayStage::Running;
    }
    const bool hasAnswer = replay && replay->state != "failed" && replay->reproduced;
    if (!hasAnswer) {
        const bool isAlone = mode != Precision::No && snapshot.control.empty() && !snapshot.isControlFinite;
        return isAlone ? ReplayStage::NeedsControl : ReplayStage::Untried;
    }
    if (replay->reproduced == Reproduced::No) {
        return ReplayStage::NotReproduced;
    }
    return bestOf(snapshot) != nullptr ? ReplayStage::Cured : ReplayStage::Uncured;
}

/// The sentence when no verdict has been given.
void sayWithoutVerdict(ReplayView& view, const ReplaySnapshot& snapshot, std::int64_t step) {
    const QString mode = QLatin1String(to_string(view.mode));
    if (const BirthReport* birth = birthOf(snapshot)) {
        view.headline = birthSentence(*birth, limitOf(snapshot));
    } else if (snapshot.replay && snapshot.replay->is_what_if) {
        view.headline = Words::tr("Step %1 of %2 again, with changes").arg(step).arg(mode);
    } else if (snapshot.incident) {
        view.headline = Words::tr("%1 met a non-finite value at step %2; where it was born isn't known yet").arg(mode).arg(step);
    } else {
        view.headline = Words::tr("Step %1 of %2").arg(step).arg(mode);
    }
    switch (view.stage) {
        case ReplayStage::Untried:
            view.next = Words::tr("Replay this step: it is done again in fresh processes, op by op, and then with one change at a time.");
            return;
        case ReplayStage::NeedsControl:
            view.next = Words::tr("Whether precision is the cause is open while there is no run in mode no. Run the control first; it is the cheapest experiment.");
            return;
        case ReplayStage::Running: view.next = Words::tr("The same step and batch again, with one change at a time…"); return;
        case ReplayStage::Uncured:
            view.next = Words::tr("None of the changes that were tried keeps it finite. Look at the data and the formula at that place, or try one of your own.");
            return;
        case ReplayStage::Cured: view.next = Words::tr("It stays finite with %1.").arg(changeText(*bestOf(snapshot), view.mode, step)); return;
        default: return;
    }
}

/// "What the variants gave fits no known cause" would blame the step for changes that nobody has tried.
bool isTooEarly(const ReplayReport& replay) {
    const bool isCut = replay.state == "stopped" && !std::all_of(replay.variants.begin(), replay.variants.end(), &hasEnded);
    return isCut && (replay.verdict->code == "unknown" || replay.verdict->code == "cause_open");
}

void say(ReplayView& view, const ReplaySnapshot& snapshot, std::int64_t step, const std::string& language) {
    view.severity = QStringLiteral("error");
    const auto& replay = snapshot.replay;
    if (view.stage == ReplayStage::NotReproduced) {
        const QString why = text(replay->reproduced_reason);
        view.headline = why.isEmpty() ? Words::tr("Not reproduced: step %1 came out otherwise here.").arg(step) : Words::tr("Not reproduced: %1.").arg(why);
        view.headline.replace(QStringLiteral(".."), QStringLiteral("."));
        view.severity = QStringLiteral("warning");
        return;
    }
    sayWithoutVerdict(view, snapshot, step);
    if (!replay || !replay->verdict || isTooEarly(*replay)) {
        return;
    }
    const Verdict& verdict = *replay->verdict;
    view.severity = text(verdict.severity);
    QStringList facts;
    for (const std::string& fact : verdict.evidence) {
        facts << text(fact);
    }
    view.evidence = facts.join(QStringLiteral(" · "));
    const auto texts = text_catalogue(language);
    const auto parts = texts ? verdict_parts(verdict, **texts) : Result<VerdictParts>(texts.error());
    const BirthReport* birth = birthOf(snapshot);
    if (!parts) {
        view.next = text(verdict.text);  // of another version: as it was written
        return;
    }
    view.next = text(parts->next);
    // The birth is said shorter in figures; what the verdict adds to it stands in the grid.
    if (birth == nullptr || birth->code != verdict.code) {
        view.headline = text(parts->what);
    }
}

void sayUnreadable(ReplayView& view, const ReplaySnapshot& snapshot) {
    view.severity = QStringLiteral("error");
    view.headline = Words::tr("This step can't be looked at: %1.").arg(text(snapshot.problem));
    view.next = Words::tr("If the folder was moved, open it at its new place (Ctrl+Shift+O).");
}

QString problemsOf(const ReplaySnapshot& snapshot, ReplayStage stage) {
    QStringList problems;
    if (!snapshot.incidentProblem.empty()) {
        problems << Words::tr("The incident file is damaged: %1. A replay finds the place anew.").arg(text(snapshot.incidentProblem));
    }
    if (!snapshot.replayProblem.empty()) {
        problems << Words::tr("The last replay's file is damaged: %1. Replay the step again.").arg(text(snapshot.replayProblem));
    }
    if (snapshot.replay && snapshot.replay->state == "failed") {
        problems << Words::tr("The last replay failed: %1").arg(text(snapshot.replay->problem));
    }
    if (stage != ReplayStage::Running && snapshot.replay && snapshot.replay->state == "stopped") {
        const auto& variants = snapshot.replay->variants;
        const auto done = std::count_if(variants.begin(), variants.end(), &hasEnded);
        problems << (done == 0 ? Words::tr("The last replay was stopped before it had tried a change. Replay the step again.")
                               : Words::tr("The last replay was stopped: %1 of %2 changes were tried. Replay again to try them all.")
                                     .arg(done)
                                     .arg(static_cast<qlonglong>(variants.size())));
    }
    return problems.join(QLatin1Char(' '));
}

QString statesText(const ReplaySnapshot& snapshot) {
    if (snapshot.states.empty()) {
        const bool isKnown = snapshot.incident && !snapshot.incident->no_states.empty();
        const bool wereThere = snapshot.incident && !snapshot.incident->states.empty();
        if (wereThere) {
            return Words::tr("The kept states were deleted: a replay runs forward from the seed.");
        }
        return isKnown ? Words::tr("No state is kept: %1").arg(text(snapshot.incident->no_states)) : QString();
    }
    QStringList steps;
    std::int64_t bytes = 0;
    for (const KeptState& state : snapshot.states) {
        steps << QString::number(state.step);
        bytes += state.bytes;
    }
    return Words::tr("Kept states: after %1 steps · %2").arg(steps.join(Words::tr(" and "))).arg(text(readable_bytes(static_cast<std::uint64_t>(bytes))));
}

}  // namespace

ReplayView replayView(const ReplaySnapshot& snapshot, std::int64_t step, bool isReplaying, const std::string& language) {
    ReplayView view;
    view.mode = modeOf(snapshot);
    view.stage = stageOf(snapshot, view.mode, isReplaying);
    view.title = titleOf(snapshot, view.mode, step);
    view.subtitle = subtitleOf(snapshot.planJson);
    view.states = statesText(snapshot);
    view.canFreeStates = !snapshot.states.empty() && view.stage != ReplayStage::Running;
    if (view.stage == ReplayStage::Unreadable) {
        sayUnreadable(view, snapshot);
        return view;
    }
    QStringList place{QLatin1String(to_string(view.mode)), Words::tr("step %1").arg(step)};
    if (const BirthReport* birth = birthOf(snapshot); birth != nullptr && !birth->producer.phase.empty()) {
        place << phaseText(birth->producer.phase);
        if (birth->step) {
            place << Words::tr("born at step %1").arg(*birth->step);
        }
    }
    view.place = place.join(QStringLiteral(" · "));
    view.control = controlText(snapshot, view.mode);
    const auto& replay = snapshot.replay;
    if (replay) {
        view.reproduced = replay->reproduced ? reproducedText(*replay) : CellText{};
        view.all = static_cast<int>(replay->variants.size());
        view.done = static_cast<int>(std::count_if(replay->variants.begin(), replay->variants.end(), &hasEnded));
        view.hasGrid = view.stage != ReplayStage::NotReproduced && view.all > 0;
        const auto tried = std::count_if(replay->variants.begin(), replay->variants.end(), [](const VariantReport& one) { return one.state == "done"; });
        if (tried > 0) {
            view.effort = Words::tr("%n replay(s)", nullptr, static_cast<int>(tried)) + QStringLiteral(" · ") +
                          text(readable_duration_ns(static_cast<std::int64_t>(replay->seconds * 1e9)));
        }
    }
    say(view, snapshot, step, language);
    if (const QString problems = problemsOf(snapshot, view.stage); !problems.isEmpty()) {
        const bool hasMore = view.stage == ReplayStage::NeedsControl || view.stage == ReplayStage::Cured;
        view.next = hasMore ? problems + QLatin1Char(' ') + view.next : problems;
    }
    if (const VariantReport* best = bestOf(snapshot); best != nullptr && view.stage == ReplayStage::Cured) {
        view.apply = best->from_step > 0 ? Words::tr("Apply best and continue from step %1").arg(best->from_step) : Words::tr("Apply best and start again from step 0");
    }
    return view;
}

const BirthReport* birthOf(const ReplaySnapshot& snapshot) {
    if (snapshot.replay && snapshot.replay->birth) {
        return &*snapshot.replay->birth;
    }
    return snapshot.incident && snapshot.incident->birth ? &*snapshot.incident->birth : nullptr;
}

double limitOf(const ReplaySnapshot& snapshot) {
    if (snapshot.replay && snapshot.replay->limit > 0) {
        return snapshot.replay->limit;
    }
    const BirthReport* birth = birthOf(snapshot);
    return birth == nullptr ? 0 : largest_of_dtype(birth->producer.result.dtype);
}

const VariantReport* bestOf(const ReplaySnapshot& snapshot) {
    if (!snapshot.replay || snapshot.replay->best.empty()) {
        return nullptr;
    }
    const auto& variants = snapshot.replay->variants;
    const auto found = std::find_if(variants.begin(), variants.end(), [&](const VariantReport& one) { return one.id == snapshot.replay->best; });
    return found == variants.end() ? nullptr : &*found;
}

QString replayAsText(const ReplayView& view, const ReplaySnapshot& snapshot, std::int64_t step) {
    QStringList lines{view.title + (view.subtitle.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(view.subtitle))};
    QStringList top;
    for (const QString& part : {view.place, view.reproduced.text, view.control.text, view.effort}) {
        if (!part.isEmpty()) {
            top << part;
        }
    }
    lines << top.join(QStringLiteral(" · ")) << view.headline;
    if (!view.next.isEmpty()) {
        lines << view.next;
    }
    if (!view.evidence.isEmpty()) {
        lines << view.evidence;
    }
    for (std::size_t i = 0; view.hasGrid && i < snapshot.replay->variants.size(); ++i) {
        const VariantReport& variant = snapshot.replay->variants[i];
        const bool isDone = isGridOver(*snapshot.replay);
        lines << QStringLiteral("- %1: %2, %3%4")
                     .arg(changeText(variant, view.mode, step), thisStepText(variant, isDone).text, laterText(variant, isDone).text,
                          variant.id == snapshot.replay->best ? Words::tr(" ← best") : QString());
    }
    if (const BirthReport* birth = birthOf(snapshot)) {
        for (const OpReading& op : snapshot.replay && !snapshot.replay->ops.empty() ? snapshot.replay->ops : birth->before) {
            lines << QStringLiteral("  %1  %2 → %3  %4%5")
                         .arg(text(op.place()), operandsText(op), readingText(op.result), dtypeText(op.result.dtype), op.is_birth ? Words::tr("  born here") : QString());
        }
    }
    return lines.join(QLatin1Char('\n'));
}

}  // namespace mantissa::ui
