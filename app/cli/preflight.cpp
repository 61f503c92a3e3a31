#include "preflight.h"

#include <nlohmann/json.hpp>

#include "engine_child.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

/// "auto" is the first GPU that can be computed on, else the CPU: the engine's own rule, asked with the
/// control.
std::string settled_device(const EngineApi& engine, RunPlan plan) {
    if (plan.device == "cuda") return "cuda:0";
    if (plan.device != "auto") return plan.device;
    plan.device = "cuda";
    return engine.choose_precision(plan, Precision::No) ? "cuda:0" : "cpu";
}

}  // namespace

Result<Preflight> check_support(const RunPlan& plan, const std::vector<Precision>& modes) {
    const auto answer = ask_engine([&plan, &modes](const EngineApi& engine) -> Result<std::string> {
        Json found = {{"device", settled_device(engine, plan)}, {"choices", Json::array()}};
        for (const Precision mode : modes) {
            RunPlan one = plan;
            one.mixed_precision = mode;
            const auto choice = engine.choose_precision(one, mode);
            if (!choice) return choice.error();
            found["choices"].push_back({to_string(choice->requested), to_string(choice->effective),
                                        to_string(choice->support), choice->reason});
        }
        return found.dump(-1, ' ', false, Json::error_handler_t::replace);
    });
    if (!answer) return answer.error();
    const Json found = Json::parse(*answer);
    Preflight preflight;
    preflight.device = found["device"];
    for (const Json& choice : found["choices"])
        preflight.choices.push_back(
            {parse_precision(choice[0].get<std::string>()).value_or(Precision::No),
             parse_precision(choice[1].get<std::string>()).value_or(Precision::No),
             parse_support(choice[2].get<std::string>()).value_or(Support::Unsupported), choice[3]});
    return preflight;
}

std::vector<std::string> first_lines(const Preflight& preflight) {
    std::vector<std::string> lines;
    for (const PrecisionChoice& choice : preflight.choices) {
        std::string reason = choice.reason;
        if (reason.ends_with('.')) reason.pop_back();  // it stands in brackets
        lines.push_back("device " + preflight.device + ", requested " + to_string(choice.requested) +
                        ", effective " + to_string(choice.effective) + " (" + to_string(choice.support) +
                        (reason.empty() ? "" : ": " + reason) + ")");
    }
    return lines;
}

}  // namespace mantissa::cli
