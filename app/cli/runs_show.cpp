#include "runs_show.h"

#include <nlohmann/json.hpp>

#include "launch/run_lookup.h"
#include "output.h"
#include "plan/plan_file.h"
#include "record/run_folder.h"
#include "results.h"
#include "table.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

void print_sources(const SourcedPlan& plan) {
    if (plan.origins.empty()) return;
    print("");
    print("Settings that are not built-in defaults:");
    Table table;
    for (const char* title : {"  field", "value", "from"}) table.add_column(title);
    for (const auto& [path, origin] : plan.origins)
        table.add_row({"  " + path, origin.value, describe_source(origin.source, origin.detail)});
    std::string text = table.text();
    text.pop_back();
    print(text);
    for (const std::string& line : plan.overruled_lines()) print("  " + line);
}

}  // namespace

int show_run(const std::filesystem::path& folder, const std::string& language, bool json) {
    const auto result = load_result(folder, language);
    if (!result) return fail(result.error());
    // A comparison's plan is that of its control, which all runs share but for the mode.
    const auto plan = read_plan_file(RunFolder{result->runs.front().run_dir}.plan());
    if (json) {
        Json all = to_json(*result);
        all["plan"] = plan ? to_json(*plan) : Json(nullptr);
        all["running"] = has_supervisor(folder);
        print_json(all);
        return 0;
    }
    print_result(*result);
    if (plan)
        print_sources(*plan);
    else
        fail(plan.error());
    if (has_supervisor(folder) && plan && plan->plan.launch.scope == LaunchScope::Thread)
        print("It is running now, in the program that started it.");
    else if (has_supervisor(folder))
        print("It is running now: mantissa runs control " + folder.filename().string() +
              " pause|resume|step|stop");
    return 0;
}

}  // namespace mantissa::cli
