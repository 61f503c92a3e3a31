#include "models_show.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "layers/layer_file.h"
#include "layers/layer_kinds.h"
#include "layers/layer_presets.h"
#include "layers/layer_rows.h"
#include "layers/layer_shapes.h"
#include "output.h"
#include "plan/catalogue.h"
#include "plan/model_file.h"
#include "plan/nearest.h"
#include "table.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;
using layers::LayerRow;

struct ShowOptions {
    std::string file, dataset = "digits";
    bool json = false, kinds = false;
};

Json to_json(const layers::FittedList& fitted, const std::vector<LayerRow>& rows, const std::string& dataset) {
    Json list = Json::array();
    const layers::LayerSums sums = layers::sums_of(rows);
    for (const LayerRow& row : rows)
        list.push_back({{"path", row.path},
                        {"place", row.place},
                        {"layer", row.text},
                        {"output", row.is_fitted ? Json(row.output) : Json(nullptr)},
                        {"parameters", row.parameters},
                        {"multiply_adds", row.multiply_adds},
                        {"training_bytes", layers::training_bytes(row)}});
    return {{"name", fitted.list.name},
            {"dataset", dataset},
            {"layers", list},
            {"parameters", sums.parameters},
            {"multiply_adds", sums.multiply_adds},
            {"training_bytes", sums.training_bytes},
            {"problem", fitted.problem ? Json({{"place", fitted.problem_place}, {"text", describe(*fitted.problem)}}) : Json(nullptr)}};
}

void print_rows(const layers::FittedList& fitted, const std::vector<LayerRow>& rows, const std::string& dataset) {
    print("Model " + fitted.list.name + " on " + dataset +
          (fitted.list.input.empty() ? "" : ", each sample as " + layers::shape_text(fitted.list.input)));
    if (!fitted.list.about.empty()) print_wrapped(fitted.list.about);
    Table table;
    for (const char* title : {"  path", "layer"}) table.add_column(title);
    for (const char* title : {"output", "parameters", "with gradients and Adam", "multiply-adds"}) table.add_column(title, Table::Align::Right);
    for (const LayerRow& row : rows) {
        const auto counted = [&row](std::int64_t count) { return row.is_fitted && count > 0 ? readable_count(count) : std::string(); };
        table.add_row({(row.problem.empty() ? "  " : "✗ ") + row.path, std::string(static_cast<std::size_t>(row.depth) * 2, ' ') + row.text,
                       row.is_fitted ? layers::shape_text(row.output) : "?", counted(row.parameters),
                       layers::training_bytes(row) > 0 ? readable_bytes(layers::training_bytes(row)) : "", counted(row.multiply_adds)});
    }
    const layers::LayerSums sums = layers::sums_of(rows);
    if (!fitted.problem)
        table.add_row({"  in all", "", "", readable_count(sums.parameters), readable_bytes(sums.training_bytes), readable_count(sums.multiply_adds)});
    print_table(table);
    if (!fitted.problem) print("Multiply-adds are those of the forward pass of one sample; activations come on top, a trial measures them.");
}

int show_kinds() {
    for (const auto& entry : layers::layer_kinds()) {
        print(entry.example);
        for (const auto& setting : entry.settings)
            print("    " + setting.name + ": " + layers::allowed_values(setting) + (setting.is_needed ? "" : " (may be left out)"));
    }
    return 0;
}

Result<std::string> file_of(const std::string& named) {
    if (const auto preset = layers::layer_preset_file(named); !preset.empty()) return preset.string();
    const ModelPlan model{"", named, 0};
    if (catalogue::find_model(named) != nullptr || is_layer_list(model)) {
        if (is_layer_list(model)) return named;
        return Error{ErrorCode::Usage, named + " is a model of the catalogue, which is no layer list", "mantissa models tells its layers"};
    }
    if (named.find_first_of("./") == std::string::npos) {
        std::vector<std::string> known;
        if (const auto presets = layers::list_layer_presets())
            for (const auto& preset : *presets) known.push_back(preset.id);
        return Error{ErrorCode::Usage, "no layer list is named " + named, "name a file, or one of " + join_names(known)};
    }
    return named;  // reading it says what is wrong
}

int show(const ShowOptions& options) {
    if (options.kinds) return show_kinds();
    if (options.file.empty()) return fail({ErrorCode::Usage, "FILE is required", "name a layer list, or --kinds for what may stand in one"});
    const auto file = file_of(options.file);
    if (!file) return fail(file.error());
    auto list = layers::read_layer_list(*file);
    if (!list) return fail(list.error());
    const bool is_known = catalogue::find_dataset(options.dataset) != nullptr;
    if (!is_known && options.dataset.find_first_of("./") == std::string::npos)
        return fail({ErrorCode::Usage, "--dataset is " + options.dataset + ", which is no data set", "name a file, or one of " + join_names(catalogue::dataset_ids())});
    DatasetPlan dataset;
    (is_known ? dataset.name : dataset.file) = options.dataset;
    const auto sample = layers::sample_form(dataset);
    if (!sample) return fail(sample.error());
    const layers::FittedList fitted = layers::fit(std::move(*list), *sample);
    const auto rows = layers::layer_rows(fitted);
    if (options.json)
        print_json(to_json(fitted, rows, options.dataset));
    else
        print_rows(fitted, rows, options.dataset);
    return fitted.problem ? fail({fitted.problem->code, *file + ": " + fitted.problem->message, fitted.problem->hint}) : 0;
}

}  // namespace

int print_layer_presets() {
    const auto presets = layers::list_layer_presets();
    if (!presets) return fail(presets.error());
    print("");
    print("Layer lists (mantissa models show NAME; --model NAME, or a file of one's own)");
    Table table;
    for (const char* column : {"  name", "what"}) table.add_column(column);
    for (const auto& preset : *presets) table.add_row({"  " + preset.id, preset.about});
    print_table(table);
    return 0;
}

void add_models_show(CLI::App& models, int& result) {
    auto* verb = models.add_subcommand("show", "The layers of a layer list on a data set: output, parameters, memory, multiply-adds");
    auto options = std::make_shared<ShowOptions>();
    verb->add_option("FILE", options->file, "a layer list (JSON), or the name of one that comes with the program");
    verb->add_option("--dataset", options->dataset, "the data set or data file whose samples it gets (digits)");
    verb->add_flag("--kinds", options->kinds, "what may stand in a list instead: every kind of layer with its settings");
    verb->add_flag("--json", options->json, "as one JSON object");
    verb->callback([options, &result] { result = show(*options); });
}

}  // namespace mantissa::cli
