#include "ui/setup/sections.h"

#include <QFrame>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QVBoxLayout>
#include <algorithm>
#include <filesystem>

#include "base/numbers.h"
#include "plan/catalogue.h"
#include "plan/plan_fields.h"
#include "plan/plan_names.h"
#include "ui/bridge/retranslation.h"
#include "ui/bridge/theme.h"
#include "ui/setup/caption_button.h"
#include "ui/setup/field_form.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
}

/// Whether the plan as it is uses this field: those of another optimizer, schedule or model are not shown.
bool isUsed(const RunPlan& plan, const std::string& path) {
    const auto chosenUses = [&](const auto& entries, const std::string& chosen) {
        const auto entry =
            std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.id == chosen; });
        return entry == entries.end() || contains(entry->fields, path);
    };
    if (path.starts_with("training.optimizer.") && path != "training.optimizer.name") {
        return chosenUses(catalogue::optimizers(), plan.training.optimizer.name);
    }
    if (path.starts_with("training.scheduler.") && path != "training.scheduler.name") {
        return chosenUses(catalogue::schedulers(), plan.training.scheduler.name);
    }
    if (path == "observe.every_steps") {
        return plan.observe.level == 1;
    }
    if (path == "observe.keep_states_every" || path == "observe.keep_states_mib") {
        return plan.observe.keep_states;
    }
    if (path == "launch.sync_batch_norm" || path == "training.split_batches" || path == "training.even_batches" ||
        path == "launch.group_timeout_seconds") {
        return plan.launch.scope == LaunchScope::Ranks || plan.launch.scope == LaunchScope::Join;
    }
    if (path == "model.hidden") {
        return chosenUses(catalogue::models(), plan.model.name);
    }
    return true;
}

QString number(double value) {
    return QString::fromStdString(to_text(value));
}

QString optimizerTitle(const std::string& id) {
    for (const auto& entry : catalogue::optimizers()) {
        if (entry.id == id) {
            return QString::fromStdString(entry.title);
        }
    }
    return QString::fromStdString(id);
}

QString orderText(ComparisonOrder order) {
    switch (order) {
        case ComparisonOrder::Turns:
            return Sections::tr("in turns");
        case ComparisonOrder::OneByOne:
            return Sections::tr("one by one");
        case ComparisonOrder::AtOnce:
            return Sections::tr("all at once");
    }
    return {};
}

}  // namespace

Sections::Sections(const Theme& theme, PlanEditor& editor, QWidget* parent)
    : QWidget(parent), m_theme(theme), m_editor(editor), m_heads(new QGridLayout), m_bodies(new QVBoxLayout) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    m_heads->setHorizontalSpacing(8);
    m_heads->setVerticalSpacing(6);
    for (int i = 0; i < 3; ++i) {
        m_heads->setColumnStretch(i, 1);
    }
    m_bodies->setSpacing(8);
    column->addLayout(m_heads);
    column->addLayout(m_bodies);
    addTraining();
    addNumbers();
    addCheckpoints();
    addWatching();
    addRest();
    connect(&editor, &PlanEditor::changed, this, &Sections::refresh);
    auto* texts = new Retranslation(this);
    texts->bind([this] { refresh(); });
}

void Sections::add(const char* name, std::vector<std::string> paths, std::function<QString()> title,
                   std::function<QString()> summary, std::function<QString()> note) {
    auto* head = new CaptionButton(m_theme, CaptionButton::Mark::Fold, this);
    head->setObjectName(QLatin1String("section.") + QLatin1String(name));
    const int place = static_cast<int>(m_sections.size());
    m_heads->addWidget(head, place / 3, place % 3);
    auto* body = new QFrame(this);
    body->setProperty("card", true);
    auto* form = new FieldForm(m_editor, paths, body);
    form->setVisibleWhen([this](const std::string& path) { return isUsed(m_editor.plan(), path); });
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(4, 4, 4, 4);
    if (note) {
        auto* words = new QLabel(body);
        words->setWordWrap(true);
        words->setProperty("muted", true);
        words->setContentsMargins(12, 6, 12, 0);
        column->addWidget(words);
        (new Retranslation(words))->bind([words, note] { words->setText(note()); });
    }
    column->addWidget(form);
    body->hide();
    m_bodies->addWidget(body);
    connect(head, &CaptionButton::toggled, this, [this, body](bool open) {
        body->setVisible(open);
        if (open) {
            Q_EMIT opened(body);
        }
    });
    m_sections.push_back({head, body, form, std::move(title), std::move(summary), std::move(paths)});
}

void Sections::addTraining() {
    std::vector<std::string> paths{"training.batch_size", "training.gradient_accumulation_steps",
                                   "training.epochs", "training.max_steps", "training.drop_last",
                                   "training.split_batches", "training.even_batches"};
    for (const PlanField& field : plan_fields()) {
        if (field.path.starts_with("training.optimizer.") || field.path.starts_with("training.scheduler.")) {
            paths.push_back(field.path);
        }
    }
    for (const char* path : {"training.loss", "training.loss_factor", "training.clip_grad_norm",
                             "training.clip_grad_value", "training.seed", "training.deterministic"}) {
        paths.emplace_back(path);
    }
    add(
        "training", std::move(paths), [] { return tr("Training"); },
        [this] {
            const TrainingPlan& training = m_editor.plan().training;
            const QString usual =
                tr("%1 · lr %2 · batch %3 · seed %4")
                    .arg(optimizerTitle(training.optimizer.name), number(training.optimizer.learning_rate))
                    .arg(training.batch_size)
                    .arg(training.seed);
            if (training.scheduler.warmup_steps == 0) {
                return usual;
            }
            const bool isShort = m_editor.length() == RunLength::Short;
            return tr("%1 · warm-up %2 of %3 steps")
                .arg(usual)
                .arg(training.scheduler.warmup_steps)
                .arg(isShort ? m_editor.shortSteps() : m_editor.fullSteps());
        });
}

void Sections::addNumbers() {
    add(
        "loss_scale",
        {"loss_scale.initial", "loss_scale.growth_factor", "loss_scale.backoff_factor",
         "loss_scale.growth_interval", "loss_scale.floor"},
        [] { return tr("Loss scale"); },
        [this] {
            const LossScalePlan& scale = m_editor.plan().loss_scale;
            const QString start = QString::fromStdString(readable_scale(scale.initial));
            if (scale.growth_factor == 1 && scale.backoff_factor == 1) {
                return tr("fixed at %1").arg(start);
            }
            return tr("%1 · ×%2 per %3 · ×%4")
                .arg(start, number(scale.growth_factor),
                     QLocale().toString(static_cast<qlonglong>(scale.growth_interval)))
                .arg(scale.backoff_factor == 0.5 ? QStringLiteral("½") : number(scale.backoff_factor));
        });
    add(
        "nonfinite", {"on_nonfinite", "batch_norm_on_skip"}, [] { return tr("When a loss isn't finite"); },
        [this] {
            switch (m_editor.plan().on_nonfinite) {
                case OnNonfinite::Stop:
                    return tr("stop before any weight moves");
                case OnNonfinite::Pause:
                    return tr("pause and wait");
                case OnNonfinite::Skip:
                    return tr("skip the update");
                case OnNonfinite::Mark:
                    return tr("mark it and go on");
            }
            return QString();
        });
    add(
        "evaluation", {"evaluation.every", "evaluation.split", "evaluation.metric", "evaluation.precision"},
        [] { return tr("Evaluation"); },
        [this] {
            const EvaluationPlan& evaluation = m_editor.plan().evaluation;
            const QString metric = QString::fromStdString(evaluation.metric);
            return evaluation.every == 0
                       ? tr("%1 at the end").arg(metric)
                       : tr("%1 every %n step(s)", nullptr, static_cast<int>(evaluation.every)).arg(metric);
        });
}

void Sections::addCheckpoints() {
    add(
        "checkpoint", {"checkpoint.every", "checkpoint.at_end", "checkpoint.keep", "checkpoint.resume_from"},
        [] { return tr("Checkpoints"); },
        [this] {
            const CheckpointPlan& plan = m_editor.plan().checkpoint;
            if (plan.every == 0) {
                return plan.at_end ? tr("at the end") : tr("none");
            }
            const int every = static_cast<int>(plan.every);
            return plan.at_end ? tr("every %n step(s) and at the end", nullptr, every)
                               : tr("every %n step(s)", nullptr, every);
        },
        [] {
            return tr("A checkpoint holds weights, optimizer, schedule, loss scale, random states and the place in the "
                      "data. A run continues from it as if it had never stopped, also in another precision.");
        });
}

void Sections::addWatching() {
    add(
        "watching",
        {"observe.level", "observe.every_steps", "observe.local_error_every", "observe.alarms", "repetitions.control", "repetitions.rounding",
         "observe.keep_states", "observe.keep_states_every", "observe.keep_states_mib"},
        [] { return tr("Watching and repetitions"); },
        [this] {
            const ObservePlan& observe = m_editor.plan().observe;
            const int repetitions = static_cast<int>(m_editor.plan().repetitions.control);
            const QString records = observe.level == 0   ? tr("no tensor records")
                                    : observe.level == 1 ? tr("tensors every %n step(s)", nullptr, static_cast<int>(observe.every_steps))
                                                         : tr("tensors every step");
            return repetitions == 0 ? records : records + QStringLiteral(" · ") + tr("%n repetition(s)", nullptr, repetitions);
        },
        [] {
            return tr("Tensor records feed the headroom chart and the page Numerics. Repetitions are more runs of the control: only with their "
                      "spread can a difference between two modes be told from chance.");
        });
}

void Sections::addRest() {
    add(
        "islands", {"fp32_islands"}, [] { return tr("fp32 islands"); },
        [this] {
            QStringList names;
            for (const std::string& island : m_editor.plan().fp32_islands) {
                names << QString::fromStdString(island);
            }
            return names.isEmpty() ? tr("none") : names.join(QStringLiteral(", "));
        });
    add(
        "data", {"dataset.file", "dataset.labels", "dataset.leave_out", "dataset.target", "dataset.header", "dataset.missing", "dataset.context", "dataset.normalise"},
        [] { return tr("Data file, range of the values"); },
        [this] {
            const std::string& file = m_editor.plan().dataset.file;
            return file.empty() ? tr("none") : QString::fromStdString(std::filesystem::path(file).filename().string());
        });
    add(
        "more",
        {"name", "model.hidden", "model.weights", "model.partial_weights", "model.output", "dataset.validation", "dataset.split_seed", "launch.threads",
         "launch.sync_batch_norm", "launch.group_timeout_seconds", "launch.order", "allow_emulated", "cpu_half", "tf32",
         "short_window", "compat"},
        [] { return tr("Data split, process, compatibility"); },
        [this] {
            return tr("%n thread(s)", nullptr, static_cast<int>(m_editor.plan().launch.threads)) +
                   QStringLiteral(" · ") + orderText(m_editor.plan().launch.order);
        });
}

void Sections::refresh() {
    for (const Section& section : m_sections) {
        section.head->setCaption(section.title(), section.summary());
        section.head->setToolTip(section.summary());
    }
}

bool Sections::showField(const std::string& path) {
    for (const Section& section : m_sections) {
        if (contains(section.paths, path)) {
            section.head->setChecked(true);
            section.form->field(path)->input()->setFocus(Qt::OtherFocusReason);
            return true;
        }
    }
    return false;
}

}  // namespace mantissa::ui
