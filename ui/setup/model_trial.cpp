#include "ui/setup/model_trial.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "plan/plan_file.h"
#include "plan/plan_json.h"
#include "ui/setup/plan_editor.h"

namespace mantissa::ui {
namespace {

using namespace std::chrono_literals;

class ProcessTask final : public TrialTask {
  public:
    explicit ProcessTask(TrialProcess process) : m_process(std::move(process)) {}
    std::optional<TrialReport> poll() override {
        auto outcome = m_process.poll();
        return outcome ? std::optional(std::move(outcome->report)) : std::nullopt;
    }

  private:
    TrialProcess m_process;
};

}  // namespace

TrialStarter processTrials() {
    return [](const SourcedPlan& plan, Precision mode,
              const std::filesystem::path& folder) -> Result<std::unique_ptr<TrialTask>> {
        const auto file = folder / (std::string("plan-") + to_string(mode) + ".json");
        if (auto written = write_plan_file(file, plan); !written) {
            return written.error();
        }
        auto process = TrialProcess::start(file, mode, plan.plan.launch.threads, folder / "trial.log", 120s);
        if (!process) {
            return process.error();
        }
        return std::unique_ptr<TrialTask>(std::make_unique<ProcessTask>(std::move(*process)));
    };
}

ModelTrial::ModelTrial(PlanEditor& editor, TrialStarter starter, QObject* parent)
    : QObject(parent), m_editor(editor), m_starter(std::move(starter)) {
    m_debounce.setSingleShot(true);
    m_debounce.setInterval(500ms);
    m_poll.setInterval(40ms);
    connect(&m_debounce, &QTimer::timeout, this, &ModelTrial::startNext);
    connect(&m_poll, &QTimer::timeout, this, &ModelTrial::poll);
    connect(&editor, &PlanEditor::changed, this, &ModelTrial::planChanged);
    m_key = keyOf(editor.plan());
}

std::string ModelTrial::keyOf(const RunPlan& plan) {
    RunPlan essence = plan;  // without what a trial of one batch doesn't touch
    const RunPlan fresh;
    essence.name = fresh.name;
    essence.modes.clear();
    essence.mixed_precision = fresh.mixed_precision;
    essence.evaluation = fresh.evaluation;
    essence.training.epochs.reset();
    essence.training.max_steps.reset();
    essence.training.scheduler = fresh.training.scheduler;
    essence.on_nonfinite = fresh.on_nonfinite;
    essence.launch.order = fresh.launch.order;
    essence.launch.scope = fresh.launch.scope;
    return to_json(essence).dump();
}

void ModelTrial::setEnabled(bool enabled) {
    if (enabled != m_enabled) {
        m_enabled = enabled;
        planChanged();
    }
}

void ModelTrial::planChanged() {
    const std::string key = keyOf(m_editor.plan());
    if (m_task && (m_taskKey.first != key || !m_enabled)) {
        m_task.reset();  // kills the process: its answer would be about another plan
        m_poll.stop();
    }
    m_key = key;
    if (m_enabled) {
        m_debounce.start();
    }
    Q_EMIT changed();
}

void ModelTrial::again() {
    std::erase_if(m_answers, [this](const auto& answer) { return answer.first.first == m_key; });
    planChanged();
}

std::vector<ModelTrial::Row> ModelTrial::rows() const {
    std::vector<Row> rows;
    for (const Precision mode : m_editor.plan().modes) {
        Row row;
        row.mode = mode;
        if (const auto answer = m_answers.find({m_key, mode}); answer != m_answers.end()) {
            row.state = State::Done;
            row.report = answer->second;
        } else if (m_task && m_taskKey == std::pair(m_key, mode)) {
            row.state = State::Trying;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::optional<double> ModelTrial::stepMsOfAllModes() const {
    double sum = 0;
    for (const Row& row : rows()) {
        if (row.state != State::Done) {
            return {};
        }
        sum += row.report.runs ? row.report.step_ms : 0;
    }
    return sum > 0 ? std::optional(sum) : std::nullopt;
}

void ModelTrial::startNext() {
    if (!m_enabled || m_task || !m_editor.issues().empty()) {
        return;
    }
    for (const Row& row : rows()) {
        if (row.state != State::Waiting) {
            continue;
        }
        SourcedPlan plan = m_editor.sourced();
        plan.plan.mixed_precision = row.mode;
        auto task = m_starter(plan, row.mode, m_folder.path().toStdString());
        if (task) {
            m_task = std::move(*task);
            m_taskKey = {m_key, row.mode};
            m_poll.start();
        } else {
            TrialReport report;
            report.mode = row.mode;
            report.refusal = describe(task.error());
            m_answers[{m_key, row.mode}] = report;
            m_debounce.start();
        }
        break;
    }
    Q_EMIT changed();
}

void ModelTrial::poll() {
    if (!m_task) {
        m_poll.stop();
        return;
    }
    if (auto report = m_task->poll()) {
        m_answers[m_taskKey] = std::move(*report);
        m_task.reset();
        m_poll.stop();
        startNext();
        Q_EMIT changed();
    }
}

}  // namespace mantissa::ui
