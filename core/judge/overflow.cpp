#include "judge/overflow.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "judge/case.h"

namespace mantissa {
namespace {

std::string value_text(double value) {
    if (std::isnan(value)) return "NaN";
    return std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf") : readable_number(value);
}

}  // namespace

OverflowDetail overflow_detail(const IncidentRow& incident) {
    OverflowDetail detail;
    const auto json = nlohmann::json::parse(incident.detail_json, nullptr, false);
    if (!json.is_object()) return detail;
    if (const auto dtype = json.find("dtype"); dtype != json.end() && dtype->is_string())
        detail.dtype = *dtype;
    if (const auto result = json.find("result"); result != json.end()) {
        if (const auto number = number_from_json(*result)) detail.result = value_text(*number);
    }
    if (const auto operands = json.find("operands"); operands != json.end() && operands->is_array()) {
        for (const auto& operand : *operands) {
            const auto number = number_from_json(operand);
            if (!number || !std::isfinite(*number)) return {"", detail.result, detail.dtype};
            detail.operands += (detail.operands.empty() ? ""
                                : incident.op == "mul"  ? " × "
                                                        : ", ") +
                               value_text(*number);
        }
    }
    return detail;
}

const IncidentRow* format_overflow(const std::vector<IncidentRow>& incidents) {
    for (const IncidentRow& incident : incidents) {
        if (incident.kind != "activation_overflow" || incident.module == "loss") continue;
        if (place_name(incident.module, incident.op).empty()) continue;
        const std::string dtype = overflow_detail(incident).dtype;
        if (dtype != "float32" && dtype != "float64") return &incident;
    }
    return nullptr;
}

}  // namespace mantissa
