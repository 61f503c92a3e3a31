#include "machine.h"

#include <nlohmann/json.hpp>

#include "engine_child.h"

namespace mantissa::cli {

Result<ProbeReport> probe_machine() {
    const auto answer = ask_engine([](const EngineApi& engine) -> Result<std::string> {
        auto report = engine.probe();
        if (!report) return report.error();
        return to_json(*report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    });
    if (!answer) return answer.error();
    return probe_report_from_json(nlohmann::json::parse(*answer));
}

namespace {

Result<std::vector<PlanLayer>> with_environment(Result<PlanLayer> config) {
    auto environment = process_environment_layer();
    if (!environment) return environment.error();
    if (!config) return config.error();
    return std::vector<PlanLayer>{std::move(*config), std::move(*environment)};
}

}  // namespace

Result<std::vector<PlanLayer>> machine_layers(const std::optional<std::filesystem::path>& config_file) {
    return with_environment(accelerate_config_layer(config_file, process_environment()));
}

Result<std::vector<PlanLayer>> machine_layers(const std::optional<std::filesystem::path>& config_file, AcceleratePlaces& places) {
    return with_environment(accelerate_launch_layer(config_file, process_environment(), places));
}

}  // namespace mantissa::cli
