#include "ui/numerics/numerics_words.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "base/numbers.h"

namespace mantissa::ui {
namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::NumericsWords)
};

QString modeOf(const RunFacts& run) { return QString::fromLatin1(to_string(run.mode)); }

}  // namespace

QString roleName(TensorRole role) {
    switch (role) {
        case TensorRole::Output: return Texts::tr("Outputs");
        case TensorRole::Gradient: return Texts::tr("Gradients");
        case TensorRole::Weight: return Texts::tr("Weights");
        case TensorRole::Update: return Texts::tr("Updates");
    }
    return {};
}

QString pickLine(const TensorStatRow& row) {
    return Texts::tr("step %1 · largest %4 · %2 · %3 values")
        .arg(row.step)
        .arg(QString::fromStdString(row.dtype), QString::fromStdString(readable_count(row.elements)),
             QString::fromStdString(readable_number(row.largest)));
}

std::optional<WatchPlan> watchPlanOf(const RunFacts& run) {
    QJsonObject plan = QJsonDocument::fromJson(QByteArray::fromStdString(run.planJson)).object();
    if (plan.contains(QLatin1String("plan"))) {
        plan = plan.value(QLatin1String("plan")).toObject();
    }
    const QJsonObject observe = plan.value(QLatin1String("observe")).toObject();
    if (observe.isEmpty()) {
        return std::nullopt;
    }
    return WatchPlan{observe.value(QLatin1String("level")).toInt(), observe.value(QLatin1String("every_steps")).toInteger()};
}

QString emptyHeatText(const NumericsSnapshot& snapshot) {
    if (snapshot.request.folder.empty()) {
        return Texts::tr("Nothing is open. Start a comparison on Set up, or open one on Runs: its tensors are shown here.");
    }
    if (!snapshot.problem.empty()) {
        return QString::fromStdString(snapshot.problem);
    }
    if (snapshot.request.run >= snapshot.runs.size()) {
        return Texts::tr("The first run is still being prepared. Its tensors are shown as soon as it has made a step.");
    }
    const RunFacts& run = snapshot.runs[snapshot.request.run];
    if (!run.problem.empty()) {
        return QString::fromStdString(run.problem);
    }
    if (run.steps == 0 && !run.hasEnded()) {
        return Texts::tr("%1 hasn't made a step yet. Its tensors are shown as soon as it has.").arg(modeOf(run));
    }
    const std::optional<WatchPlan> plan = watchPlanOf(run);
    if (run.hasRecords()) {
        return Texts::tr("%1 recorded no %2 so far. Choose another kind of tensor above.")
            .arg(modeOf(run), roleName(snapshot.request.role).toLower());
    }
    if (!run.hasEnded()) {
        return plan && plan->level == 0
                   ? Texts::tr("%1 is watched at level 0: only the largest value of each parameter is kept. Switch to level 1 above to "
                               "record every tensor from now on.")
                         .arg(modeOf(run))
                   : Texts::tr("%1 has recorded no tensor yet. Switch to level 1 above to record every tensor from now on.").arg(modeOf(run));
    }
    return plan && plan->level > 0
               ? Texts::tr("%1 holds no tensor records, although its plan asks for level %2: an earlier version of the program recorded "
                           "it, or it ended before its first step. Run the comparison again to see its tensors.")
                     .arg(modeOf(run))
                     .arg(plan->level)
               : Texts::tr("%1 was recorded at level 0, so there are no tensors to look at. Set observe.level to 1 on Set up and run it again.")
                     .arg(modeOf(run));
}

QString emptyOpsText(const RunFacts* run) {
    return run ? Texts::tr("%1 hasn't recorded the ops of a step. They are counted in its first step: start the run, or run it again with "
                           "this version.")
                     .arg(modeOf(*run))
               : Texts::tr("The ops of the watched step are counted here once a run has made it.");
}

QString emptyUpdatesText(const RunFacts* run) {
    return run && run->hasRecords()
               ? Texts::tr("%1 recorded no update yet: updates are watched together with the weights, at the steps that apply one.").arg(modeOf(*run))
               : Texts::tr("Which weights an update leaves as they were is measured from level 1 on.");
}

QString emptyLocalErrorsText(const RunFacts* run) {
    if (run && run->mode == Precision::No) {
        return Texts::tr("This run computes in fp32 already, so it has no rounding error against it. Choose another mode above.");
    }
    const QString way = Texts::tr("Set observe.local_error_every, for example to 50: every 50 steps the same batch is then computed in fp32 beside "
                                  "the run's mode, so that rounding here is told apart from drift since step 0.");
    return run ? Texts::tr("%1 hasn't measured its local error. %2").arg(modeOf(*run), way) : way;
}

QString forecastText(const NumericsSnapshot& snapshot, const std::string& language) {
    if (snapshot.forecast) {
        const auto texts = text_catalogue(language);
        if (!texts) {
            return QString::fromStdString(describe(texts.error()));
        }
        QStringList lines;
        for (const std::string& line : forecast_texts(*snapshot.forecast, **texts)) {
            lines << QString::fromStdString(line);
        }
        return lines.join(QStringLiteral("\n\n"));
    }
    const auto control = std::find_if(snapshot.runs.begin(), snapshot.runs.end(), [](const RunFacts& run) { return run.mode == Precision::No; });
    if (control == snapshot.runs.end()) {
        return Texts::tr("What fp16, bf16 and fp8 would meet is told from the tensor records of a run in mode no. There is none here: start a "
                         "comparison with mode no.");
    }
    return control->hasEnded()
               ? Texts::tr("Nothing can be foretold: the run in mode no has no tensor records. Set observe.level to 1 on Set up and run it again.")
               : Texts::tr("Nothing can be foretold yet. What fp16, bf16 and fp8 would meet is told here as soon as the run in mode no has tensor "
                           "records (level 1).");
}

}  // namespace mantissa::ui
