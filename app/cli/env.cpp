#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/paths.h"
#include "base/version.h"
#include "engine_child.h"
#include "machine.h"
#include "output.h"
#include "plan/accelerate_places.h"
#include "plan/accelerate_variables.h"
#include "plan/plan_sources.h"
#include "plan_origins.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

using NamedFile = std::optional<std::filesystem::path>;  // --config_file

Result<SourcedPlan> plan_of_machine(const NamedFile& named) {
    const auto layers = machine_layers(named);
    if (!layers) return layers.error();
    return merge_plan(*layers, PlanUse::Train);
}

Json accelerate_variables() {
    Json variables = Json::object();
    for (const std::string& name : process_accelerate_variables()) variables[name] = process_environment()(name).value_or("");
    return variables;
}

/// The file as it stands, and what it and the environment make of a run without flags and plan.
Json accelerate_settings(const NamedFile& named, const Result<SourcedPlan>& plan) {
    Json file = nullptr, text = nullptr, settings = nullptr, problem = nullptr;
    std::error_code ignored;
    const auto there = named ? *named : default_accelerate_config_file(process_environment());
    if (std::filesystem::exists(there, ignored)) {
        file = there.string();
        const auto read = read_file(there, 1u << 20);
        text = read ? Json(*read) : Json(nullptr);
    }
    if (plan)
        settings = sources_json(*plan);
    else
        problem = describe(plan.error());
    return {{"variables", accelerate_variables()}, {"config_file", file}, {"config", text}, {"settings", settings}, {"problem", problem}};
}

Json devices() {
    const auto report = probe_machine();
    return report ? to_json(*report)["devices"] : Json::array();
}

Json collect(const NamedFile& named, const Result<SourcedPlan>& plan) {
    utsname system{};
    ::uname(&system);
    Json engine;
    const auto answer = ask_engine([](const EngineApi& api) { return api.environment(RunPlan{}); });
    if (answer) engine = Json::parse(*answer, nullptr, false);
    return {{"mantissa", version},
            {"program", (program_folder() / "mantissa").string()},
            {"platform", std::string(system.sysname) + " " + system.release + " " + system.machine},
            {"resources", resources_folder().string()},
            {"runs_folder", runs_folder().string()},
            {"engine", answer && !engine.is_discarded() ? engine : Json(nullptr)},
            {"engine_error", answer ? Json(nullptr) : Json(describe(answer.error()))},
            {"devices", devices()},
            {"accelerate", accelerate_settings(named, plan)}};
}

void print_flat(const std::string& name, const Json& value) {
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, entry] : value.items()) print_flat(name + "." + key, entry);
        return;
    }
    print(name + ": " + (value.is_string() ? value.get<std::string>() : value.dump()));
}

int show(bool json, const NamedFile& named) {
    std::error_code ignored;
    const auto plan = plan_of_machine(named);
    if (named && !plan && !std::filesystem::exists(*named, ignored)) return fail(plan.error());
    const Json all = collect(named, plan);
    if (json) {
        print_json(all);
        return 0;
    }
    for (const char* key : {"mantissa", "program", "platform", "resources", "runs_folder"})
        print_flat(key, all[key]);
    if (all["engine"].is_null())
        print("engine: not available: " + all["engine_error"].get<std::string>());
    else
        print_flat("engine", all["engine"]);
    for (const Json& device : all["devices"]) {
        std::string line = "device " + device["id"].get<std::string>() + ": " + device["name"].get<std::string>() + ";";
        for (const Json& mode : device["modes"])
            line += " " + mode["mode"].get<std::string>() + " " + mode["support"].get<std::string>() + ",";
        line.pop_back();
        print(line);
    }
    const Json& accelerate = all["accelerate"];
    for (const auto& [key, value] : accelerate["variables"].items()) print_flat(key, value);
    if (!accelerate["problem"].is_null()) print("problem: " + accelerate["problem"].get<std::string>());
    if (accelerate["config_file"].is_null()) {
        print("Accelerate's configuration: not found");
    } else {
        print("Accelerate's configuration: " + accelerate["config_file"].get<std::string>());
        if (accelerate["config"].is_string()) print(accelerate["config"].get<std::string>());
    }
    if (plan) print_sources(*plan);
    return 0;
}

}  // namespace

void add_env(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "env", "Versions, folders, devices, numeric settings, and what Accelerate's environment and file make of a run");
    auto json = std::make_shared<bool>(false);
    verb->add_flag("--json", *json, "as one JSON object");
    auto file = std::make_shared<std::string>();
    verb->add_option("--config_file,--config-file", *file, "Accelerate's configuration instead of its default file");
    verb->callback([json, file, &result] { result = show(*json, file->empty() ? NamedFile() : NamedFile(*file)); });
}

}  // namespace mantissa::cli
