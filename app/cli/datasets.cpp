#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "data_words.h"
#include "output.h"
#include "plan/catalogue.h"
#include "plan/plan_sources.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

void list_datasets(bool json) {
    if (json) return print_json(catalogue::datasets_to_json());
    for (const auto& data : catalogue::datasets()) {
        print(data.id + ": " + data.title);
        print("    " + data.description);
        print("    " + readable_count(data.samples) + " samples, " + std::to_string(data.features) + " features, " + std::to_string(data.classes) + " classes");
        print("    " + data.attribution + " (" + data.licence + ")");
    }
}

struct ShowOptions {
    std::string file;
    std::vector<std::string> assignments;
    std::int64_t samples = 3;
    bool json = false;
};

// The same fields as a plan's, so that what was tried here is what a run is given.
Result<DatasetPlan> dataset_plan(const ShowOptions& options) {
    PlanLayer layer{ValueSource::Flag, {}, {}};
    if (auto set = layer.set_text("dataset.file", options.file, "FILE"); !set) return set.error();
    for (const std::string& assignment : options.assignments) {
        const std::string path = assignment.starts_with("dataset.") ? assignment : "dataset." + assignment;
        if (auto set = layer.set_assignment(path); !set) return set.error();
    }
    auto merged = merge_plan({layer}, PlanUse::Train);
    if (!merged) return merged.error();
    return merged->plan.dataset;
}

int show_file(const ShowOptions& options) {
    const auto plan = dataset_plan(options);
    if (!plan) return fail(plan.error());
    const auto samples = read_samples(*plan);
    if (!samples) return fail(samples.error());
    const SampleStatistics statistics = describe_samples(*samples);
    if (options.json) print_json(data_json(*plan, *samples, statistics));
    else print_data(*plan, *samples, statistics, options.samples);
    return 0;
}

void add_show(CLI::App& verb, int& result) {
    auto* show = verb.add_subcommand("show", "What is in a data file of your own: kind, labels, range of each column, what fp16 would do to it, the first samples");
    auto options = std::make_shared<ShowOptions>();
    show->add_option("FILE", options->file, "IDX, npy, npz, safetensors, a CSV table or a text, told by its content")->required();
    show->add_option("--set", options->assignments, "a field of the plan's data set: --set labels=species, --set leave_out=id,name, --set missing=mean (may be repeated)")
        ->take_all()
        ->allow_extra_args(false);
    show->add_option("--samples", options->samples, "how many samples are printed (3)")->check(CLI::Range(0, 100));
    show->add_flag("--json", options->json, "as one JSON object");
    show->callback([options, &result] { result = show_file(*options); });
}

}  // namespace

void add_datasets(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("datasets", "Data sets that a plan can name, with sizes, licence and attribution; `datasets show FILE` looks into one of your own");
    auto json = std::make_shared<bool>(false);
    verb->add_flag("--json", *json, "as one JSON object");
    add_show(*verb, result);
    verb->callback([verb, json, &result] {
        if (!verb->get_subcommands().empty()) return;
        result = 0;
        list_datasets(*json);
    });
}

}  // namespace mantissa::cli
