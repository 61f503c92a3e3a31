#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "models_show.h"
#include "output.h"
#include "plan/catalogue.h"
#include "plan/nearest.h"
#include "plan/plan_fields.h"
#include "plan/run_plan.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

void print_choices(const char* title, const std::vector<catalogue::ChoiceEntry>& entries) {
    print("");
    print(title);
    Table table;
    for (const char* column : {"  id", "what", "fields"}) table.add_column(column);
    for (const auto& entry : entries) {
        std::vector<std::string> names;
        for (const std::string& path : entry.fields) names.push_back(path.substr(path.rfind('.') + 1));
        table.add_row({"  " + entry.id, entry.description, join_names(names)});
    }
    print_table(table);
}

int print_models() {
    for (const auto& model : catalogue::models()) {
        print(model.id + ": " + model.title);
        print("    " + model.description);
        print("    layers: " + model.layers);
        print("    data sets: " + join_names(model.datasets) +
              (model.fields.empty() ? "" : "; fields: " + join_names(model.fields)));
        print("    modules for fp32_islands: " + join_names(model.modules));
    }
    const int listed = print_layer_presets();
    print_choices("Losses", catalogue::losses());
    print_choices("Optimizers", catalogue::optimizers());
    print_choices("Schedules of the learning rate", catalogue::schedulers());
    print_choices("Metrics", catalogue::metrics());
    return listed;
}

Json field_json(const PlanField& field) {
    const bool has_limits = field.kind == FieldKind::Integer || field.kind == FieldKind::Number;
    return {{"path", field.path},
            {"default", field.get(RunPlan{})},
            {"allowed", allowed_values(field)},
            {"choices", field.choices},
            {"minimum", has_limits ? Json(field.limits.minimum) : Json(nullptr)},
            {"maximum", has_limits ? Json(field.limits.maximum) : Json(nullptr)},
            {"about", field.about}};
}

int show_fields(bool json) {
    if (json) {
        Json list = Json::array();
        for (const PlanField& field : plan_fields()) list.push_back(field_json(field));
        print_json({{"fields", list}});
        return 0;
    }
    Table table;
    for (const char* column : {"field", "default", "about", "allowed"}) table.add_column(column);
    for (const PlanField& field : plan_fields()) {
        const std::string standard = field_text(field, RunPlan{});
        table.add_row({field.path, standard.empty() ? "–" : standard, field.about, allowed_values(field)});
    }
    print_table(table);
    return 0;
}

}  // namespace

void add_models(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "models", "Models, losses, optimizers, schedules and metrics that a plan can name");
    struct Options {
        bool json = false, fields = false;
    };
    auto options = std::make_shared<Options>();
    verb->add_flag("--json", options->json, "as one JSON object");
    verb->add_flag("--fields", options->fields, "all fields of a plan with defaults and bounds instead");
    add_models_show(*verb, result);
    verb->callback([options, verb, &result] {
        if (!verb->get_subcommands().empty()) return;  // the subcommand's own
        result = 0;
        if (options->fields)
            result = show_fields(options->json);
        else if (options->json)
            print_json(catalogue::models_to_json());
        else
            result = print_models();
    });
}

}  // namespace mantissa::cli
