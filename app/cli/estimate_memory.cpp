#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "engine_child.h"
#include "layers/layer_file.h"
#include "layers/layer_rows.h"
#include "layers/layer_shapes.h"
#include "output.h"
#include "plan/memory_estimate.h"
#include "plan/model_file.h"
#include "plan/nearest.h"
#include "plan_options.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

constexpr StoredType stored_types[] = {StoredType::Float32, StoredType::Float16, StoredType::BFloat16,
                                       StoredType::Int8, StoredType::Int4};

struct MemoryOptions {
    PlanOptions plan;
    bool json = false, no_trial = false;
};

/// One mode's trial, or why there is none.
struct Measured {
    Precision mode = Precision::No;
    std::int64_t peak_bytes = 0;
    std::string reason;  // set when there is no peak
};

struct Estimate {
    RunPlan plan;
    ModelSize size;
    ResidentBytes resident;
    std::vector<Measured> modes;
};

std::string model_name(const RunPlan& plan) { return plan.model.file.empty() ? plan.model.name : plan.model.file; }

std::string dataset_name(const RunPlan& plan) { return plan.dataset.file.empty() ? plan.dataset.name : plan.dataset.file; }

std::string readable(double bytes) {
    return readable_bytes(static_cast<std::uint64_t>(std::max(0.0, bytes)));
}

/// Each mode in a child of its own, so that none of them pays for what another left behind.
Measured measure(const RunPlan& plan, Precision mode) {
    RunPlan one = plan;
    one.mixed_precision = mode;
    Measured measured;
    measured.mode = mode;
    const auto answer = ask_engine([&one, mode](const EngineApi& engine) -> Result<std::string> {
        const auto report = engine.trial(one, mode);
        if (!report) return report.error();
        return to_json(*report).dump(-1, ' ', false, Json::error_handler_t::replace);
    });
    if (!answer) {
        measured.reason = describe(answer.error());
        return measured;
    }
    const auto report = trial_report_from_json(Json::parse(*answer));
    if (!report)
        measured.reason = describe(report.error());
    else if (!report->runs)
        measured.reason = report->refusal.empty() ? report->choice.reason : report->refusal;
    else
        measured.peak_bytes = report->memory_peak_bytes;
    return measured;
}

std::vector<Measured> measure_all(const RunPlan& plan) {
    std::vector<Measured> modes;
    for (const Precision mode : plan.modes) modes.push_back(measure(plan, mode));
    return modes;
}

Json to_json(const Estimate& estimate) {
    Json types = Json::array(), measured = Json::array();
    for (const StoredType type : stored_types) {
        Json training = nullptr;
        if (has_training(type)) {
            const TrainingParts parts = accelerate_training(estimate.size.bytes, type);
            training = {{"model", parts.model},
                        {"gradients", parts.gradients},
                        {"optimizer", parts.optimizer},
                        {"step", parts.step},
                        {"total", parts.largest()}};
        }
        types.push_back({{"dtype", to_string(type)},
                         {"largest_layer_bytes", stored_bytes(estimate.size.largest_layer_bytes, type)},
                         {"total_bytes", stored_bytes(estimate.size.bytes, type)},
                         {"training_with_adam_bytes", training}});
    }
    for (const Measured& mode : estimate.modes) {
        const bool known = mode.reason.empty();
        measured.push_back({{"mode", to_string(mode.mode)},
                            {"peak_bytes", known ? Json(mode.peak_bytes) : Json(nullptr)},
                            {"reason", mode.reason}});
    }
    return {{"model", model_name(estimate.plan)},
            {"dataset", dataset_name(estimate.plan)},
            {"batch_size", estimate.plan.training.batch_size},
            {"optimizer", estimate.plan.training.optimizer.name},
            {"parameters", estimate.size.parameters},
            {"largest_layers", estimate.size.largest_layers},
            {"accelerate", types},
            {"resident",
             {{"weights_bytes", estimate.resident.weights},
              {"gradients_bytes", estimate.resident.gradients},
              {"optimizer_bytes", estimate.resident.optimizer},
              {"total_bytes", estimate.resident.total()}}},
            {"measured", measured}};
}

void print_accelerate(const ModelSize& size) {
    print("As Accelerate counts (from the weights alone):");
    Table table;
    table.add_column("  dtype");
    for (const char* title : {"largest layer", "total size", "training with Adam"})
        table.add_column(title, Table::Align::Right);
    for (const StoredType type : stored_types)
        table.add_row({std::string("  ") + to_string(type),
                       readable(stored_bytes(size.largest_layer_bytes, type)),
                       readable(stored_bytes(size.bytes, type)),
                       has_training(type)
                           ? readable(static_cast<double>(accelerate_training(size.bytes, type).largest()))
                           : "–"});
    print_table(table);
    print("  largest layer: " + join_names(size.largest_layers));
}

void print_measured(const Estimate& estimate) {
    const TrainingPlan& training = estimate.plan.training;
    const double resident = static_cast<double>(estimate.resident.total());
    print("");
    print("Weights " + readable(static_cast<double>(estimate.resident.weights)) + ", gradients " +
          readable(static_cast<double>(estimate.resident.gradients)) + ", state of " +
          training.optimizer.name + " " + readable(static_cast<double>(estimate.resident.optimizer)) +
          ": fp32 in every mode, together " + readable(resident) + ".");
    if (estimate.modes.empty()) return;
    print("Measured in a trial, batch size " + std::to_string(training.batch_size) + ":");
    Table table;
    table.add_column("  mode");
    for (const char* title : {"peak of tensors", "of it data, activations, casts"})
        table.add_column(title, Table::Align::Right);
    for (const Measured& mode : estimate.modes) {
        const auto peak = static_cast<double>(mode.peak_bytes);
        const std::string name = std::string("  ") + to_string(mode.mode);
        if (mode.reason.empty())
            table.add_row({name, readable(peak), readable(peak - resident)});
        else
            table.add_row({name, "–", "–"});
    }
    print_table(table);
    for (const Measured& mode : estimate.modes)
        if (!mode.reason.empty()) print("  " + std::string(to_string(mode.mode)) + ": " + mode.reason);
}

Result<std::vector<ModuleSize>> modules_of(const RunPlan& plan) {
    const auto sample = layers::sample_form(plan.dataset);
    if (!sample) return sample.error();
    if (!is_layer_list(plan.model)) return module_sizes(plan.model, layers::product(sample->sizes), sample->classes);
    const auto list = layers::read_fitted_list(plan.model.file, *sample);
    if (!list) return list.error();
    return layers::module_sizes(*list);
}

int estimate_memory(const MemoryOptions& options) {
    const auto plan = options.plan.resolve(PlanUse::Compare);
    if (!plan) return fail(plan.error());
    Estimate estimate;
    if (is_program(plan->plan.model))
        return fail({ErrorCode::NotBuilt, "model.file is \"" + plan->plan.model.file + "\": what a file's model holds isn't counted yet",
                     "a comparison measures it: its trial shows the peak of each mode on one batch"});
    estimate.plan = plan->plan;
    const auto modules = modules_of(estimate.plan);
    if (!modules) return fail(modules.error());
    estimate.size = model_size(*modules);
    estimate.resident = resident_bytes(estimate.size, estimate.plan.training.optimizer);
    if (!options.no_trial) estimate.modes = measure_all(estimate.plan);
    if (options.json) {
        print_json(to_json(estimate));
        return 0;
    }
    print("Model " + model_name(estimate.plan) + " on " + dataset_name(estimate.plan) + ": " +
          readable_count(estimate.size.parameters) + " parameters");
    print_accelerate(estimate.size);
    print_measured(estimate);
    return 0;
}

}  // namespace

void add_estimate_memory(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "estimate-memory", "Memory of a model: as Accelerate estimates it, and as measured here");
    auto options = std::make_shared<MemoryOptions>();
    options->plan.add_to(*verb, PlanUse::Compare);
    options->plan.make_plan_optional(*verb);
    verb->add_flag("--no-trial,--no_trial", options->no_trial, "the arithmetic only, nothing is run");
    verb->add_flag("--json", options->json, "as one JSON object, in bytes");
    verb->footer(
        "Accelerate's total of training with Adam is the largest of its parts (model, gradients, optimizer,\n"
        "step). Mixed precision keeps weights, gradients and optimizer state in fp32: it never simply "
        "halves\n"
        "the memory. What it saves or costs in activations and casts is what the trial measures, one batch\n"
        "in each mode. Without PLAN: the built-in defaults, changed by --model, --dataset, --batch-size.");
    verb->callback([options, &result] { result = estimate_memory(*options); });
}

}  // namespace mantissa::cli
