#include "ui/setup/plan_editor.h"

#include <QUndoCommand>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "plan/catalogue.h"
#include "plan/plan_fields.h"
#include "ui/setup/field_labels.h"

namespace mantissa::ui {

/// One edit: the states before and after. Edits of one field in a row are one step.
class PlanEditCommand : public QUndoCommand {
  public:
    PlanEditCommand(PlanEditor& editor, PlanEditor::State before, PlanEditor::State after, std::string path)
        : m_editor(editor), m_before(std::move(before)), m_after(std::move(after)), m_path(std::move(path)) {}
    void undo() override {
        m_editor.m_refused.clear();
        m_editor.take(m_before);
    }
    void redo() override {
        if (m_wasDone) {
            m_editor.m_refused.clear();
        }
        m_wasDone = true;
        m_editor.take(m_after);
    }
    [[nodiscard]] int id() const override { return m_path.empty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand* next) override {
        const auto* other = static_cast<const PlanEditCommand*>(next);
        if (other->m_path != m_path) {
            return false;
        }
        m_after = other->m_after;
        return true;
    }

  private:
    PlanEditor& m_editor;
    PlanEditor::State m_before, m_after;
    std::string m_path;
    bool m_wasDone = false;  // pushing a command does it for the first time
};

namespace {

bool isLength(const std::string& path) {
    return path == "training.epochs" || path == "training.max_steps";
}

/// A short comparison is chosen in the window, so it also wins over lengths that flags and earlier edits
/// gave.
PlanLayer withoutLength(PlanLayer layer) {
    if (layer.source == ValueSource::Flag || layer.source == ValueSource::Edit) {
        std::erase_if(layer.values, [](const LayerValue& value) { return isLength(value.path); });
    }
    return layer;
}

std::int64_t stepsOf(const RunPlan& plan, std::int64_t fileSamples) {
    if (plan.training.batch_size <= 0) {
        return 0;
    }
    if (plan.dataset.file.empty()) {
        return planned_steps(of_all_ranks(plan), planned_samples(plan.dataset).training);
    }
    const std::int64_t training = fileSamples - catalogue::held_out_samples(fileSamples, plan.dataset.validation);
    return plan.training.max_steps || training > 0 ? planned_steps(of_all_ranks(plan), std::max<std::int64_t>(training, 1)) : 0;
}

void put(PlanLayer& edits, const PlanField& field, const nlohmann::json& value) {
    std::erase_if(edits.values, [&](const LayerValue& old) { return old.path == field.path; });
    edits.values.push_back({field.path, value.dump(), "window"});
}

/// Another model, optimizer or schedule: what only the former one used goes back to its default, in the same
/// step.
template <typename Entry>
void resetUnused(PlanLayer& edits, const RunPlan& before, const std::vector<Entry>& entries,
                 const std::string& chosen) {
    const auto uses = [](const Entry& entry, const std::string& path) {
        return std::find(entry.fields.begin(), entry.fields.end(), path) != entry.fields.end();
    };
    const auto choice =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.id == chosen; });
    const RunPlan fresh;
    for (const Entry& entry : entries) {
        for (const std::string& path : entry.fields) {
            const PlanField* field = find_plan_field(path);
            const bool isUsed = choice == entries.end() || uses(*choice, path);
            if (field != nullptr && !isUsed && field_text(*field, before) != field_text(*field, fresh)) {
                put(edits, *field, field->get(fresh));
            }
        }
    }
}

void resetUnusedBy(PlanLayer& edits, const RunPlan& before, const std::string& path,
                   const std::string& chosen) {
    if (path == "model.name") {
        resetUnused(edits, before, catalogue::models(), chosen);
        if (!before.fp32_islands.empty()) {  // modules of the former model
            put(edits, *find_plan_field("fp32_islands"), nlohmann::json::array());
        }
    } else if (path == "training.optimizer.name") {
        resetUnused(edits, before, catalogue::optimizers(), chosen);
    } else if (path == "training.scheduler.name") {
        resetUnused(edits, before, catalogue::schedulers(), chosen);
    }
}

/// Whether this field belongs to another model, optimizer or schedule than the chosen one.
bool isUnusedBy(const std::string& path, const std::string& choicePath, const std::string& chosen) {
    const auto unused = [&](const auto& entries) {
        bool isKnown = false;
        for (const auto& entry : entries) {
            const bool uses = std::find(entry.fields.begin(), entry.fields.end(), path) != entry.fields.end();
            if (uses && entry.id == chosen) {
                return false;
            }
            isKnown = isKnown || uses;
        }
        return isKnown;
    };
    return (choicePath == "model.name" && unused(catalogue::models())) ||
           (choicePath == "training.optimizer.name" && unused(catalogue::optimizers())) ||
           (choicePath == "training.scheduler.name" && unused(catalogue::schedulers()));
}

}  // namespace

PlanEditor::PlanEditor(QObject* parent) : QObject(parent) {
    (void)start({});
}

Result<SourcedPlan> PlanEditor::merged(const State& state, Steps* steps) {
    std::vector<PlanLayer> layers = state.sources;
    layers.push_back(state.edits);
    const auto whole = merge_plan(layers, PlanUse::Train);
    if (!whole) {
        return whole;
    }
    std::vector<PlanLayer> shortLayers;
    std::transform(layers.begin(), layers.end(), std::back_inserter(shortLayers), withoutLength);
    auto shortened = merge_plan(shortLayers, PlanUse::Compare, state.shortRun);
    if (!shortened) {
        return shortened;
    }
    const std::int64_t full = stepsOf(whole->plan, state.fileSamples);
    if (steps != nullptr) {
        *steps = {stepsOf(shortened->plan, state.fileSamples), full};
    }
    if (state.length == RunLength::Short) {
        return shortened;
    }
    CompareDefaults wholePlan;
    wholePlan.steps = full > 0 ? full : state.shortRun.steps;  // of a file that nobody has looked into yet
    wholePlan.detail = "the full plan";
    return merge_plan(layers, PlanUse::Compare, wholePlan);
}

Result<void> PlanEditor::start(std::vector<PlanLayer> sources, const CompareDefaults& shortRun,
                               RunLength length) {
    State state;
    state.shortRun = shortRun;
    state.sources = std::move(sources);
    state.length = length;
    if (const auto tried = merged(state, nullptr); !tried) {
        return tried.error();
    }
    m_undo.clear();
    m_refused.clear();
    take(state);
    return {};
}

Result<void> PlanEditor::replacePlan(PlanLayer plan, const CompareDefaults& shortRun,
                                     const QString& undoText) {
    State next = m_state;
    next.shortRun = shortRun;
    std::erase_if(next.sources, [](const PlanLayer& layer) {
        return layer.source == ValueSource::Plan || layer.source == ValueSource::Preset;
    });
    next.sources.push_back(std::move(plan));
    next.edits.values.clear();
    auto typed = std::exchange(m_refused, {});
    auto pushed = push(std::move(next), undoText, {});
    if (!pushed) {
        m_refused = std::move(typed);
    }
    return pushed;
}

Result<void> PlanEditor::replaceConfig(PlanLayer config, const QString& undoText) {
    State next = m_state;
    std::erase_if(next.sources, [](const PlanLayer& layer) { return layer.source == ValueSource::Config; });
    next.sources.push_back(std::move(config));
    return push(std::move(next), undoText, {});
}

const PlanLayer* PlanEditor::configLayer() const {
    const auto found = std::find_if(m_state.sources.begin(), m_state.sources.end(),
                                    [](const PlanLayer& layer) { return layer.source == ValueSource::Config; });
    return found == m_state.sources.end() ? nullptr : &*found;
}

Result<void> PlanEditor::push(State next, const QString& text, const std::string& path) {
    if (const auto tried = merged(next, nullptr); !tried) {
        return tried.error();
    }
    auto command = std::make_unique<PlanEditCommand>(*this, m_state, std::move(next), path);
    command->setText(text);
    m_undo.push(command.release());  // the stack owns it
    return {};
}

void PlanEditor::take(const State& state) {
    auto sourced = merged(state, &m_steps);
    MANTISSA_ASSERT(sourced.ok());  // tried before it was pushed
    m_state = state;
    m_sourced = std::move(*sourced);
    m_issues = find_plan_issues(m_sourced.plan);
    Q_EMIT changed();
    Q_EMIT errorsChanged();
}

Result<SourcedPlan> PlanEditor::planOfOneMode(Precision mode) const {
    State state = m_state;
    put(state.edits, *find_plan_field("mixed_precision"), to_string(mode));
    std::vector<PlanLayer> layers = state.sources;
    layers.push_back(state.edits);
    if (state.length == RunLength::Short) {
        std::transform(layers.begin(), layers.end(), layers.begin(), withoutLength);
        PlanLayer length{ValueSource::Edit, {}, {}};
        put(length, *find_plan_field("training.epochs"), nullptr);
        put(length, *find_plan_field("training.max_steps"), stepsNow());
        layers.push_back(length);
    }
    return resolve_plan(layers, PlanUse::Train);
}

QString PlanEditor::text(const std::string& path) const {
    const PlanField* field = find_plan_field(path);
    MANTISSA_ASSERT(field != nullptr);
    if (field->is_optional && field->get(plan()).is_null()) {
        return {};
    }
    return QString::fromStdString(field_text(*field, plan()));
}

QString PlanEditor::typedText(const std::string& path) const {
    const auto refused = m_refused.find(path);
    return refused == m_refused.end() ? text(path) : refused->second.typed;
}

bool PlanEditor::edit(const std::string& path, const QString& value) {
    const PlanField* field = find_plan_field(path);
    MANTISSA_ASSERT(field != nullptr);
    const std::string typed = value.trimmed().toStdString();
    if (typed == text(path).toStdString()) {
        if (m_refused.erase(path) > 0) {
            Q_EMIT errorsChanged();
        }
        return true;
    }
    const nlohmann::json json =
        typed.empty() && field->is_optional ? nlohmann::json() : value_from_text(*field, typed);
    RunPlan scratch = plan();
    auto fits = field->set(*field, scratch, json);
    if (fits) {
        State next = m_state;
        put(next.edits, *field, json);
        resetUnusedBy(next.edits, plan(), path, typed);
        if (isLength(path)) {  // one of the two, and it counts from now on
            const bool isSteps = path == "training.max_steps";
            put(next.edits, *find_plan_field(isSteps ? "training.epochs" : "training.max_steps"), nullptr);
            next.length = RunLength::Full;
        }
        std::erase_if(m_refused, [&](const auto& refused) {
            return refused.first == path || (isLength(path) && isLength(refused.first)) ||
                   isUnusedBy(refused.first, path, typed);
        });
        fits = push(std::move(next), labelOf(path), path);
    }
    if (!fits) {
        m_refused[path] = {value, QString::fromStdString(describe(fits.error()))};
        Q_EMIT errorsChanged();
    }
    return fits.ok();
}

bool PlanEditor::setModes(const std::vector<Precision>& modes) {
    QStringList names;
    for (const Precision mode : modes) {
        names << QLatin1String(to_string(mode));
    }
    return edit("modes", names.join(QLatin1Char(',')));
}

bool PlanEditor::setData(const DatasetPlan& data, std::int64_t fileSamples) {
    RunPlan wanted = plan();
    wanted.dataset = data;
    State next = m_state;
    next.fileSamples = fileSamples;
    for (const PlanField& field : plan_fields()) {
        if (field.path.starts_with("dataset.") && field.get(wanted) != field.get(plan())) {
            put(next.edits, field, field.get(wanted));
            m_refused.erase(field.path);
        }
    }
    return push(std::move(next), tr("Data"), {}).ok();
}

void PlanEditor::setFileSamples(std::int64_t samples) {
    if (samples != m_state.fileSamples) {
        State state = m_state;
        state.fileSamples = samples;
        take(state);
    }
}

void PlanEditor::setLength(RunLength length) {
    if (length != m_state.length) {
        State next = m_state;
        next.length = length;
        (void)push(std::move(next), length == RunLength::Short ? tr("Short comparison") : tr("Full plan"),
                   {});
    }
}

std::int64_t PlanEditor::stepsNow() const {
    return stepsOf(plan(), m_state.fileSamples);
}

QString PlanEditor::error(const std::string& path) const {
    if (const auto refused = m_refused.find(path); refused != m_refused.end()) {
        return refused->second.sentence;
    }
    for (const PlanIssue& issue : m_issues) {
        if (issue.path == path) {
            return QString::fromStdString(describe(issue.error));
        }
    }
    return {};
}

QString PlanEditor::firstProblem() const {
    if (!m_refused.empty()) {
        return m_refused.begin()->second.sentence;
    }
    return m_issues.empty() ? QString() : QString::fromStdString(describe(m_issues.front().error));
}

QString PlanEditor::originText(const std::string& path) const {
    const auto origin = m_sourced.origins.find(path);
    if (origin == m_sourced.origins.end()) {
        return tr("built-in default");
    }
    const QString detail = QString::fromStdString(origin->second.detail);
    switch (origin->second.source) {
        case ValueSource::Default:
            return detail.isEmpty() ? tr("built-in default") : tr("default: %1").arg(detail);
        case ValueSource::Config:
            return tr("Accelerate's configuration file %1").arg(detail);
        case ValueSource::Environment:
            return tr("environment variable %1").arg(detail);
        case ValueSource::Checkpoint:
            return tr("checkpoint %1").arg(detail);
        case ValueSource::Plan:
            return tr("plan %1").arg(detail);
        case ValueSource::Preset:
            return tr("preset %1").arg(detail);
        case ValueSource::Flag:
            return tr("flag %1").arg(detail);
        case ValueSource::Edit:
            return tr("edited in this window");
    }
    return {};
}

}  // namespace mantissa::ui
