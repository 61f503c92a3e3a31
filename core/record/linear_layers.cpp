#include "record/linear_layers.h"

#include <nlohmann/json.hpp>

namespace mantissa {

using Json = nlohmann::json;

std::string to_text(const std::vector<LinearLayer>& layers) {
    Json list = Json::array();
    for (const LinearLayer& one : layers) {
        list.push_back({{"module", one.module}, {"in", one.in}, {"out", one.out}, {"computes_in", one.is_fp8 ? "fp8" : "bf16"}});
    }
    return list.dump();
}

std::vector<LinearLayer> linear_layers_of(const std::string& text) {
    std::vector<LinearLayer> layers;
    const Json list = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!list.is_array()) return layers;
    for (const Json& one : list) {
        const bool is_whole = one.is_object() && one.contains("module") && one["module"].is_string() && one.contains("in") &&
                              one["in"].is_number_integer() && one.contains("out") && one["out"].is_number_integer() &&
                              one.contains("computes_in");
        if (is_whole) layers.push_back({one["module"], one["in"], one["out"], one["computes_in"] == "fp8"});
    }
    return layers;
}

}  // namespace mantissa
