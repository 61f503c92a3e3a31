#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/paths.h"
#include "base/version.h"
#include "engine_child.h"
#include "output.h"
#include "plan/plan_sources.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

Json accelerate_settings() {
    Json variables = Json::object();
    for (const char* name : {"ACCELERATE_MIXED_PRECISION", "ACCELERATE_USE_CPU", "ACCELERATE_TORCH_DEVICE",
                             "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"})
        if (const auto value = process_environment()(name)) variables[name] = *value;
    Json file = nullptr, text = nullptr;
    std::error_code ignored;
    for (const char* name : {"default_config.yaml", "default_config.json"}) {
        const auto candidate = accelerate_config_folder(process_environment()) / name;
        if (!file.is_null() || !std::filesystem::exists(candidate, ignored)) continue;
        file = candidate.string();
        const auto read = read_file(candidate, 1u << 20);
        text = read ? Json(*read) : Json(nullptr);
    }
    Json problem = nullptr;
    const auto variables_read = environment_layer(process_environment());
    const auto config_read = accelerate_config_layer(std::nullopt, process_environment());
    if (!variables_read)
        problem = describe(variables_read.error());
    else if (!config_read)
        problem = describe(config_read.error());
    return {{"variables", variables}, {"config_file", file}, {"config", text}, {"problem", problem}};
}

Json collect() {
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
            {"accelerate", accelerate_settings()}};
}

void print_flat(const std::string& name, const Json& value) {
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, entry] : value.items()) print_flat(name + "." + key, entry);
        return;
    }
    print(name + ": " + (value.is_string() ? value.get<std::string>() : value.dump()));
}

int show(bool json) {
    const Json all = collect();
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
    const Json& accelerate = all["accelerate"];
    for (const auto& [key, value] : accelerate["variables"].items()) print_flat(key, value);
    if (!accelerate["problem"].is_null()) print("problem: " + accelerate["problem"].get<std::string>());
    if (accelerate["config_file"].is_null()) {
        print("Accelerate's configuration: not found");
        return 0;
    }
    print("Accelerate's configuration: " + accelerate["config_file"].get<std::string>());
    if (accelerate["config"].is_string()) print(accelerate["config"].get<std::string>());
    return 0;
}

}  // namespace

void add_env(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "env", "Versions, folders, numeric settings, and what Accelerate's environment and file say");
    auto json = std::make_shared<bool>(false);
    verb->add_flag("--json", *json, "as one JSON object");
    verb->callback([json, &result] { result = show(*json); });
}

}  // namespace mantissa::cli
