#include "ui/live/live_words.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "base/files.h"
#include "base/numbers.h"
#include "judge/evidence.h"
#include "judge/resume_text.h"
#include "plan/catalogue.h"
#include "plan/run_plan.h"
#include "record/run_folder.h"

namespace mantissa::ui {
namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::LiveWords)
};

QString text(const std::string& value) { return QString::fromStdString(value); }

LiveRunState liveStateOf(const RunFollower& run) {
    LiveRunState live;
    if (run.summary()) {
        live = live_run_state(*run.summary(), run.incidents());
    }
    // The series is newer than the summary.
    live.mode = run.mode();
    live.state = run.state().state;
    live.state_reason = run.state().reason;
    live.stall = run.stall();
    // A run that goes on from a checkpoint begins at a later step of the plan.
    if (!run.series().isEmpty()) live.steps = static_cast<std::int64_t>(run.series().steps().back()) + 1;
    live.skipped_probing = run.series().skipped(SkipKind::Probing);
    live.skipped_fault = run.series().skipped(SkipKind::Fault);
    if (!live.first_nonfinite_step) {
        const auto& marks = run.series().marks();
        const auto bad = std::find_if(marks.begin(), marks.end(),
                                      [](const StepMark& mark) { return mark.fate == StepFate::Nonfinite; });
        if (bad != marks.end()) {
            live.first_nonfinite_step = bad->step;
        }
    }
    return live;
}

QString decisionSeverity(const ComparisonFollower& follower, const Decision& decision) {
    const bool isUnfair = follower.record()->fairness.known && !follower.record()->fairness.fair;
    return decision.mode && !isUnfair ? QStringLiteral("ok") : QStringLiteral("warning");
}

/// "AdamW" for adamw, as on Set up; an id that this version doesn't know stays as it is.
QString optimizerTitle(const QString& id) {
    for (const auto& entry : catalogue::optimizers()) {
        if (text(entry.id) == id) {
            return text(entry.title);
        }
    }
    return id;
}

QString joinedModes(const std::vector<Precision>& modes, const QString& separator) {
    QStringList names;
    for (const Precision mode : modes) {
        names << QString::fromLatin1(to_string(mode));
    }
    return names.join(separator);
}

}  // namespace

std::optional<Precision> modeOnTrial(const ComparisonFollower& follower) {
    const auto& record = follower.record();
    if (!record || record->state != "trial" || record->trials.size() >= record->modes.size()) {
        return std::nullopt;
    }
    return record->modes[record->trials.size()];
}

Headline headlineOf(const ComparisonFollower& follower, const std::string& language) {
    if (!follower.problem().isEmpty()) {
        return {follower.problem(), QStringLiteral("error")};
    }
    const auto& record = follower.record();
    if (record && record->decision && follower.hasEnded()) {
        return {text(record->decision->text), decisionSeverity(follower, *record->decision)};
    }
    if (const std::optional<Precision> mode = modeOnTrial(follower)) {
        return {Texts::tr("Trying %1 on one batch of this model…").arg(QString::fromLatin1(to_string(*mode))),
                QStringLiteral("note")};
    }
    std::vector<LiveRunState> states;
    std::int64_t planned = 0;
    for (const auto& run : follower.runs()) {
        if (!run->problem().isEmpty()) {
            return {run->problem(), QStringLiteral("error")};
        }
        states.push_back(liveStateOf(*run));
        planned = std::max(planned, states.back().planned_steps);
    }
    for (LiveRunState& state : states) {
        if (state.planned_steps == 0) {  // it hasn't said yet; runs of a comparison have one plan
            state.planned_steps = planned;
        }
    }
    const bool isStarting = planned == 0 && std::none_of(states.begin(), states.end(), [](const LiveRunState& state) {
        return is_end_state(state.state);
    });
    if (isStarting && !states.empty() && states.front().state == RunState::Running) {
        return {QString(), QStringLiteral("note")};  // for a blink: "step 0 of 0" would be wrong
    }
    const LiveHeadline headline = live_headline(states, language, record ? record->repeating : std::nullopt);
    return {text(headline.text), text(headline.severity)};
}

QString titleOf(const ComparisonFollower& follower) {
    if (const auto& record = follower.record()) {
        return Texts::tr("%1 · %2").arg(text(record->name), joinedModes(record->modes, QStringLiteral(" / ")));
    }
    if (!follower.runs().empty() && follower.runs().front()->summary()) {
        const RunSummary& summary = *follower.runs().front()->summary();
        return Texts::tr("%1 · %2").arg(text(summary.name), QString::fromLatin1(to_string(summary.mode)));
    }
    return text(follower.folder().filename().string());
}

QString subtitleOf(const ComparisonFollower& follower) {
    std::string json;
    if (follower.record()) {
        json = follower.record()->plan_json;
    } else if (auto read = read_file(RunFolder{follower.folder()}.plan()); read) {
        json = std::move(*read);
    }
    QJsonObject plan = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
    if (plan.contains(QLatin1String("plan"))) {
        plan = plan.value(QLatin1String("plan")).toObject();
    }
    const QJsonObject training = plan.value(QLatin1String("training")).toObject();
    const QJsonObject optimizer = training.value(QLatin1String("optimizer")).toObject();
    if (training.isEmpty()) {
        return {};
    }
    return Texts::tr("%1 · batch %2 · %3 %4 · seed %5")
        .arg(plan.value(QLatin1String("dataset")).toObject().value(QLatin1String("name")).toString())
        .arg(training.value(QLatin1String("batch_size")).toInteger())
        .arg(optimizerTitle(optimizer.value(QLatin1String("name")).toString()),
             QString::number(optimizer.value(QLatin1String("learning_rate")).toDouble()))
        .arg(training.value(QLatin1String("seed")).toInteger());
}

QString statusOf(const ComparisonFollower& follower) {
    int working = 0;
    QString device;
    std::vector<Precision> emulated;
    for (const auto& run : follower.runs()) {
        const RunState state = run->state().state;
        working += state == RunState::Running || state == RunState::Trial || state == RunState::Paused ? 1 : 0;
        if (run->summary()) {
            device = text(run->summary()->device_name);
            if (run->summary()->support == Support::Emulated) {
                emulated.push_back(run->mode());
            }
        }
    }
    QStringList parts;
    parts << (working == 0 ? Texts::tr("no worker") : (working == 1 ? Texts::tr("1 worker") : Texts::tr("%1 workers").arg(working)));
    if (!device.isEmpty()) {
        parts << device;
    }
    if (!emulated.empty()) {
        parts << Texts::tr("%1 emulated").arg(joinedModes(emulated, QStringLiteral(", ")));
    }
    return parts.join(QStringLiteral(" · "));
}

QString originOf(const ComparisonFollower& follower, const std::string& language) {
    QStringList lines;
    const auto texts = text_catalogue(language);
    for (const auto& run : follower.runs()) {
        if (!texts || !run->summary() || !run->summary()->resumed) {
            continue;
        }
        const double initial = plan_facts(run->planJson()).loss_scale_initial.value_or(LossScalePlan{}.initial);
        if (const auto said = resumed_run_texts(**texts, *run->summary(), initial)) {
            for (const std::string& line : *said) {
                lines << text(line);
            }
        }
    }
    return lines.join(QLatin1Char(' '));
}

FairnessNote fairnessOf(const ComparisonFollower& follower, const ThemeColours& colours) {
    const auto& record = follower.record();
    if (!record) {
        return {};
    }
    QStringList differences;
    for (const std::string& difference : record->fairness.differences) {
        differences << text(difference);
    }
    const QString details = differences.join(QLatin1Char('\n'));
    const auto coloured = [](const QString& words, const QColor& colour) {
        return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(colour.name(), words.toHtmlEscaped());
    };
    if (!record->fairness.known) {
        return {coloured(Texts::tr("fairness is known once all runs have started"), colours.muted), details};
    }
    if (!record->fairness.fair) {
        const QString why = differences.isEmpty() ? QString() : differences.front();
        return {QStringLiteral("<b>%1</b>").arg(coloured(Texts::tr("✗ not a fair comparison: %1").arg(why), colours.error)), details};
    }
    const QString note = record->order == "at-once" ? Texts::tr("fair ✓ same weights, batches and settings; times are shared")
                                                    : Texts::tr("fair ✓ same weights, batches and settings");
    return {coloured(note, colours.muted), details};
}

}  // namespace mantissa::ui
