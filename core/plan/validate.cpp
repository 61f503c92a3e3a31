#include "plan/validate.h"

#include <algorithm>

#include "base/numbers.h"
#include "plan/alarm_entries.h"
#include "plan/catalogue.h"
#include "plan/field_codec.h"
#include "plan/model_file.h"
#include "plan/nearest.h"
#include "plan/plan_fields.h"
#include "plan/plan_names.h"

namespace mantissa {
namespace {

class Issues {
  public:
    explicit Issues(const RunPlan& plan) : m_plan(plan) {}
    void bad(const char* path, const std::string& why, const std::string& hint) {
        add(ErrorCode::BadPlan, path, why, hint);
    }
    void not_built(const char* path, const std::string& hint) {
        add(ErrorCode::NotBuilt, path, ": not built yet", hint);
    }
    std::vector<PlanIssue> found;

  private:
    void add(ErrorCode code, const char* path, const std::string& why, const std::string& hint) {
        const std::string value = field_text(*find_plan_field(path), m_plan);
        found.push_back({path, {code, std::string(path) + " is " + value + why, hint}});
    }
    const RunPlan& m_plan;
};

bool has_ranks(const RunPlan& plan) {
    // In scope join the launcher says how many they are.
    return plan.launch.scope == LaunchScope::Ranks || plan.launch.scope == LaunchScope::Join;
}

// Which operations run only the first step can tell: the engine refuses there what matched nothing.
void check_islands(const RunPlan& plan, const catalogue::ModelEntry& model, Issues& issues) {
    const auto is_module = [&model](const std::string& path) {
        return std::find(model.modules.begin(), model.modules.end(), path) != model.modules.end();
    };
    for (const std::string& island : plan.fp32_islands) {
        const auto dot = island.rfind('.');
        const bool names_an_op = (island.starts_with("aten::") && island.size() > 6) ||
                                 (dot != std::string::npos && dot + 1 < island.size() && is_module(island.substr(0, dot)));
        if (is_module(island) || names_an_op) continue;
        const std::vector<std::string> nearest = nearest_names(island, model.modules);
        issues.found.push_back(
            {"fp32_islands",
             {ErrorCode::BadPlan, "fp32_islands names \"" + island + "\", which " + model.id + " has not",
              (nearest.empty() ? "" : "did you mean " + join_names(nearest) + "? ") +
                  "its modules are: " + join_names(model.modules)}});
    }
}

void check_model_files(const ModelPlan& model, Issues& issues) {
    if (model.partial_weights && model.weights.empty()) issues.bad("model.partial_weights", ", but no weights are named", "name them in model.weights, or leave it out");
    if (!model.output.empty() && model.file.empty()) issues.bad("model.output", ", but a model of the catalogue returns one tensor", "leave it out, or name a TorchScript file in model.file");
}

void check_model_and_data(const RunPlan& plan, Issues& issues) {
    check_model_files(plan.model, issues);
    if (!plan.model.file.empty()) return;  // what it takes is known when it is loaded
    const catalogue::ModelEntry* model = catalogue::find_model(plan.model.name);
    if (!model) return issues.bad("model.name", "", "use one of: " + join_names(catalogue::model_ids()));
    const bool takes_width =
        std::find(model->fields.begin(), model->fields.end(), "model.hidden") != model->fields.end();
    if (!takes_width && plan.model.hidden != ModelPlan{}.hidden)
        issues.bad("model.hidden", ", but the model " + model->id + " has no width to choose",
                   "drop it, or choose mlp or squares");
    const auto& takes = model->datasets;
    if (plan.dataset.file.empty() && std::find(takes.begin(), takes.end(), plan.dataset.name) == takes.end())
        issues.bad("dataset.name", ", which the model " + model->id + " can't take",
                   "it takes: " + join_names(takes));
    check_islands(plan, *model, issues);
}

// What tells how a file is read means nothing for a data set of the catalogue.
void check_data_file(const DatasetPlan& data, Issues& issues) {
    if (!data.file.empty()) return;
    const DatasetPlan fresh;
    const std::pair<const char*, bool> given[] = {{"dataset.labels", data.labels != fresh.labels},   {"dataset.leave_out", data.leave_out != fresh.leave_out},
                                                  {"dataset.target", data.target != fresh.target},   {"dataset.header", data.header != fresh.header},
                                                  {"dataset.missing", data.missing != fresh.missing}, {"dataset.context", data.context != fresh.context}};
    for (const auto& [path, is_given] : given)
        if (is_given) issues.bad(path, ", but no data file is named", "name it in dataset.file, or leave " + std::string(path) + " out");
}

// A warm-up that the run doesn't outlast never reaches its learning rate.
void check_warmup(const RunPlan& plan, Issues& issues) {
    const SchedulerPlan& scheduler = plan.training.scheduler;
    const bool ends_before_run = scheduler.name != "constant_with_warmup" && scheduler.total_steps > 0;
    if (ends_before_run && scheduler.warmup_steps > scheduler.total_steps)
        return issues.bad("training.scheduler.warmup_steps",
                          ", longer than the schedule of " + std::to_string(scheduler.total_steps) + " steps",
                          "use fewer, or raise training.scheduler.total_steps");
    if (const auto steps = known_steps(plan); steps && scheduler.warmup_steps > *steps)
        issues.bad("training.scheduler.warmup_steps",
                   ", longer than the run of " + std::to_string(*steps) + " steps",
                   "use fewer, or make the run longer");
}

void check_ranks_batches(const RunPlan& plan, Issues& issues) {
    const TrainingPlan &training = plan.training, together = of_all_ranks(plan);
    const std::string ranks = std::to_string(plan.launch.processes);
    if (training.split_batches && has_ranks(plan) && training.batch_size % plan.launch.processes != 0)
        issues.bad("training.batch_size", ", which can't be divided by " + ranks + " processes",
                   "use a multiple of " + ranks + ", or training.split_batches false");
    const std::int64_t samples = planned_samples(plan.dataset).training;
    if (training.drop_last && plan.dataset.file.empty() && training.batch_size <= samples && together.batch_size > samples)
        issues.bad("training.drop_last",
                   ", but all ranks' batches together are " + std::to_string(together.batch_size) + " of only " +
                       std::to_string(samples) + " training samples: no batch would be left",
                   "use a smaller training.batch_size, or training.drop_last false");
}

void check_training(const RunPlan& plan, Issues& issues) {
    const TrainingPlan& training = plan.training;
    if (training.epochs && training.max_steps)
        issues.bad("training.max_steps", " and training.epochs is " + std::to_string(*training.epochs),
                   "set one of the two");
    const OptimizerPlan& optimizer = training.optimizer;
    const OptimizerPlan fresh;
    const bool is_sgd = optimizer.name == "sgd";
    if (optimizer.nesterov && (!is_sgd || optimizer.momentum <= 0 || optimizer.dampening != 0))
        issues.bad("training.optimizer.nesterov", "",
                   "Nesterov's momentum needs sgd, a momentum above 0 and no dampening");
    if (!is_sgd && optimizer.momentum != 0)
        issues.bad("training.optimizer.momentum", ", but " + optimizer.name + " has no momentum",
                   "drop it, or use beta1");
    if (!is_sgd && optimizer.dampening != 0)
        issues.bad("training.optimizer.dampening", ", but " + optimizer.name + " has no momentum",
                   "drop it, or choose sgd");
    if (is_sgd && optimizer.amsgrad)
        issues.bad("training.optimizer.amsgrad", ", but sgd has none", "drop it, or choose adam");
    if (is_sgd && optimizer.beta1 != fresh.beta1)
        issues.bad("training.optimizer.beta1", ", but sgd has none", "drop it");
    if (is_sgd && optimizer.beta2 != fresh.beta2)
        issues.bad("training.optimizer.beta2", ", but sgd has none", "drop it");
    if (is_sgd && optimizer.eps != fresh.eps)
        issues.bad("training.optimizer.eps", ", but sgd has none", "drop it");
    const SchedulerPlan& scheduler = training.scheduler;
    if (scheduler.name == "one_cycle" && scheduler.base_momentum > scheduler.max_momentum)
        issues.bad("training.scheduler.base_momentum", ", above max_momentum", "use at most max_momentum");
    check_warmup(plan, issues);
    // How many samples a file holds is known only when it is read.
    if (plan.dataset.file.empty() && training.batch_size > planned_samples(plan.dataset).training)
        issues.bad("training.batch_size",
                   ", more than the " + std::to_string(planned_samples(plan.dataset).training) +
                       " training samples of " + plan.dataset.name,
                   "use at most that many");
    check_ranks_batches(plan, issues);
    if (plan.loss_scale.initial < plan.loss_scale.floor)
        issues.bad("loss_scale.initial", ", below loss_scale.floor (" + to_text(plan.loss_scale.floor) + ")",
                   "start above the floor");
}

std::vector<std::string> schedules_with(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : catalogue::schedulers())
        if (std::find(entry.fields.begin(), entry.fields.end(), path) != entry.fields.end()) names.push_back(entry.id);
    return names;
}

// Values of an unused schedule would be ignored, so they are refused unless they are the defaults.
void check_unused_schedule(const RunPlan& plan, Issues& issues) {
    const RunPlan fresh;
    const auto& schedules = catalogue::schedulers();
    const auto chosen = std::find_if(schedules.begin(), schedules.end(), [&plan](const auto& entry) {
        return entry.id == plan.training.scheduler.name;
    });
    if (chosen == schedules.end()) return;
    for (const auto& entry : schedules)
        for (const std::string& path : entry.fields) {
            if (std::find(chosen->fields.begin(), chosen->fields.end(), path) != chosen->fields.end())
                continue;
            const PlanField* field = find_plan_field(path);
            if (field_text(*field, plan) != field_text(*field, fresh))
                issues.bad(path.c_str(), ", but the schedule " + chosen->id + " doesn't use it",
                           "drop it, or choose a schedule that does: " + join_names(schedules_with(path)));
        }
}

void check_built(const RunPlan& plan, Issues& issues) {
    if (plan.launch.processes > 1 && !has_ranks(plan))
        issues.bad("launch.processes", ", but launch.scope is " + std::string(to_string(plan.launch.scope)) + ", which trains in one process",
                   "use launch.scope ranks, or 1 process");
    if (plan.launch.scope == LaunchScope::Ranks && plan.launch.processes < 2)
        issues.bad("launch.processes", ", but launch.scope ranks trains in several processes", "use 2 or more, or launch.scope process");
    if (has_ranks(plan) && plan.observe.local_error_every > 0)
        issues.not_built("observe.local_error_every", "use 0 with several processes");
    if (has_ranks(plan) && plan.repetitions.control > 0) issues.not_built("repetitions.control", "use 0 with several processes");
    if (has_ranks(plan) && plan.repetitions.rounding > 0) issues.not_built("repetitions.rounding", "use 0 with several processes");
    if (is_program(plan.model) && plan.launch.scope == LaunchScope::Thread)
        issues.bad("launch.scope", ", but model.file is a program of somebody else's, which gets a process of its own", "use launch.scope process");
    if (plan.evaluation.metric == "mae" || plan.evaluation.metric == "perplexity")
        issues.not_built("evaluation.metric", "use accuracy or loss");
    if (plan.cpu_half == CpuHalf::Fast) issues.not_built("cpu_half", "use torch");
}

// A name stands in tables, in a terminal and in the report: one line, and not a page.
void check_name(const std::string& name, Issues& issues) {
    constexpr std::size_t longest = 200;
    if (name.empty()) return issues.bad("name", "empty", "give the run a name");
    const bool is_one_line = std::none_of(
        name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (is_one_line && name.size() <= longest) return;
    const std::string why = is_one_line ? "of " + std::to_string(name.size()) + " bytes is too long"
                                        : "holds a line break or another control character";
    issues.found.push_back({"name",
                            {ErrorCode::BadPlan, "the name " + codec::shown(name) + " " + why,
                             "use one line of at most " + std::to_string(longest) + " bytes"}});
}

}  // namespace

std::vector<PlanIssue> find_plan_issues(const RunPlan& plan) {
    Issues issues(plan);
    check_name(plan.name, issues);
    if (auto device = check_device_name(plan.device); !device)
        issues.found.push_back({"device", device.error()});
    check_model_and_data(plan, issues);
    check_data_file(plan.dataset, issues);
    check_training(plan, issues);
    check_unused_schedule(plan, issues);
    if (const auto alarms = parse_alarms(plan.observe.alarms); !alarms) issues.found.push_back({"observe.alarms", alarms.error()});
    check_built(plan, issues);
    return std::move(issues.found);
}

Result<void> validate(const RunPlan& plan) {
    const auto issues = find_plan_issues(plan);
    if (issues.empty()) return {};
    return issues.front().error;
}

std::optional<std::int64_t> known_steps(const RunPlan& plan) {
    const TrainingPlan& training = plan.training;
    const bool is_known = training.max_steps || plan.dataset.file.empty();
    if (!is_known || training.batch_size < 1 || training.gradient_accumulation_steps < 1) return std::nullopt;
    return planned_steps(of_all_ranks(plan), planned_samples(plan.dataset).training);
}

std::string warmup_text(const RunPlan& plan) {
    const SchedulerPlan& scheduler = plan.training.scheduler;
    if (scheduler.warmup_steps == 0) return {};
    const auto steps = known_steps(plan);
    return scheduler.name + ": warm-up " + std::to_string(scheduler.warmup_steps) +
           (steps ? " of " + std::to_string(*steps) : "") + " steps";
}

PlannedSamples planned_samples(const DatasetPlan& dataset) {
    const catalogue::DatasetEntry* entry = catalogue::find_dataset(dataset.name);
    if (!entry) return {};
    const std::int64_t held_out = catalogue::held_out_samples(entry->samples, dataset.validation);
    return {entry->samples - held_out, held_out};
}

}  // namespace mantissa
