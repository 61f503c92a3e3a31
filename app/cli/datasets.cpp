#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "output.h"
#include "plan/catalogue.h"
#include "verbs.h"

namespace mantissa::cli {

void add_datasets(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "datasets", "Data sets that a plan can name, with sizes, licence and attribution");
    auto json = std::make_shared<bool>(false);
    verb->add_flag("--json", *json, "as one JSON object");
    verb->callback([json, &result] {
        result = 0;
        if (*json) return print_json(catalogue::datasets_to_json());
        for (const auto& data : catalogue::datasets()) {
            print(data.id + ": " + data.title);
            print("    " + data.description);
            print("    " + readable_count(data.samples) + " samples, " + std::to_string(data.features) +
                  " features, " + std::to_string(data.classes) + " classes");
            print("    " + data.attribution + " (" + data.licence + ")");
        }
    });
}

}  // namespace mantissa::cli
