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

Result<std::vector<PlanLayer>> machine_layers(const std::optional<std::filesystem::path>& config_file) {
    auto environment = process_environment_layer();
    if (!environment) return environment.error();
    auto config = accelerate_config_layer(config_file, process_environment());
    if (!config) return config.error();
    return std::vector<PlanLayer>{std::move(*config), std::move(*environment)};
}

}  // namespace mantissa::cli
