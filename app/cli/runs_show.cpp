#include "runs_show.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "launch/hung_run.h"
#include "launch/run_lookup.h"
#include "output.h"
#include "plan/plan_fields.h"
#include "plan/plan_file.h"
#include "record/run_folder.h"
#include "record/stall.h"
#include "results.h"
#include "runs_checkpoints.h"
#include "runs_incidents.h"
#include "runs_numerics.h"
#include "runs_ranks.h"
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
    print_table(table);
    for (const std::string& line : plan.overruled_lines()) print("  " + line);
    for (const std::string& note : plan.notes) print("  note: " + note);
}

/// What was found in a model file, and which weights of the plan's file didn't fit.
void print_model_findings(const std::filesystem::path& run) {
    const auto text = read_file(RunFolder{run}.environment());
    const Json environment = text ? Json::parse(*text, nullptr, false) : Json();
    if (!environment.is_object()) return;
    const auto print_list = [](const Json& list, const std::string& title) {
        if (!list.is_array() || list.empty()) return;
        print("");
        print(title);
        for (const Json& one : list) {
            if (one.is_string()) print_wrapped(one.get<std::string>(), 4, "  - ");
        }
    };
    print_list(environment.value("model_findings", Json()), "Found in the model:");
    const Json weights = environment.value("weights", Json());
    if (!weights.is_object()) return;
    print_list(weights.value("missing", Json()), "Weights that keep their start, for the file has none:");
    print_list(weights.value("mis_shaped", Json()), "Weights that keep their start, for the file's have another shape:");
    print_list(weights.value("unexpected", Json()), "In the file and not in the model:");
}

/// The plan.json of a program of one's own (core/track): the project and its configuration. Null: it is a plan.
Json program_plan(const std::filesystem::path& run) {
    const auto text = read_file(RunFolder{run}.plan());
    const Json file = text ? Json::parse(*text, nullptr, false) : Json(nullptr);
    const bool is_program = file.is_object() && file.contains("mantissa_program") && file.contains("plan");
    return is_program ? file["plan"] : Json(nullptr);
}

void print_configuration(const Json& plan) {
    print("");
    if (!plan.is_object() || !plan.contains("config") || !plan["config"].is_object() || plan["config"].empty())
        return print("Made by a program of its own, without a configuration.");
    print("Made by a program of its own, with this configuration:");
    Table table;
    for (const char* title : {"  name", "value"}) table.add_column(title);
    for (const auto& [name, value] : plan["config"].items()) table.add_row({"  " + name, value_to_text(value)});
    print_table(table);
}

/// "running"; "repeating `no` (2 of 3)" once the modes have ended.
std::string doing_of(const JobResult& result) {
    const auto repeating = result.comparison ? result.comparison->repeating : std::nullopt;
    if (!repeating) return "running";
    return "repeating `no` (" + std::to_string(repeating->at) + " of " + std::to_string(repeating->planned) + ")";
}

/// By mode: the runs that stand still, as two looks find them, a little more than a pulse apart.
std::map<std::string, Stall> stalls_of(const JobResult& result) {
    std::map<std::string, Stall> found;
    const auto look = [&found](const RunSummary& run) {
        found.erase(to_string(run.mode));
        if (const auto stall = find_stall(read_lives(run.run_dir), run.state, now_ns())) found.emplace(to_string(run.mode), *stall);
    };
    for (const RunSummary& run : result.runs) look(run);
    if (found.empty()) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    for (const RunSummary& run : result.runs) look(run);
    return found;
}

void print_stalls(const std::map<std::string, Stall>& stalls, const std::filesystem::path& folder) {
    for (const auto& [mode, stall] : stalls)
        print(mode + ": " + describe_stall(stall) + "; mantissa runs control " + folder.filename().string() + " stop --mode " + mode +
              " ends it, and what is recorded stays");
}

}  // namespace

int show_run(const std::filesystem::path& folder, const std::string& language, bool json) {
    const auto result = load_result(folder, language);
    if (!result) return fail(result.error());
    // A comparison's plan is that of its control, which all runs share but for the mode.
    const auto plan = read_plan_file(RunFolder{result->runs.front().run_dir}.plan());
    const Json program = plan ? Json(nullptr) : program_plan(result->runs.front().run_dir);
    if (json) {
        Json all = to_json(*result);
        all["plan"] = plan ? to_json(*plan) : program;
        all["running"] = has_supervisor(folder);
        for (const auto& [mode, stall] : stalls_of(*result)) all["stalls"].push_back({{"mode", mode}, {"seconds", stall.seconds}, {"text", describe_stall(stall)}});
        all["numerics"] = numerics_json(result->runs, language);
        if (!result->comparison) all["saved"] = checkpoints_json(folder);
        all["incidents"] = incidents_json(folder);
        if (!result->comparison) all["ranks"] = ranks_json(folder);
        print_json(all);
        return 0;
    }
    print_result(*result);
    print_numerics(result->runs, language);
    print_incidents(folder);
    if (!result->comparison) print_ranks(folder);
    if (const std::string line = result->comparison ? "" : checkpoints_line(folder); !line.empty())
        print(line + ": mantissa train --resume-from " + folder.filename().string());
    if (plan)
        print_sources(*plan);
    else if (!program.is_null())
        print_configuration(program);
    else
        fail(plan.error());
    if (!result->runs.empty()) print_model_findings(result->runs.front().run_dir);
    if (has_supervisor(folder))
        print("It is " + doing_of(*result) + " now: mantissa runs control " + folder.filename().string() +
              " pause|resume|step|checkpoint|stop|abort");
    print_stalls(stalls_of(*result), folder);
    return 0;
}

}  // namespace mantissa::cli
