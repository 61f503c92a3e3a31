#include "base/error_json.h"

#include <nlohmann/json.hpp>

namespace mantissa {

nlohmann::json error_to_json(const Error& error) {
    return {{"code", to_string(error.code)}, {"message", error.message}, {"hint", error.hint}};
}

std::optional<Error> error_from_json(const nlohmann::json& value) {
    if (!value.is_object() || !value.contains("code") || !value.contains("message") || !value.contains("hint")) return std::nullopt;
    if (!value["code"].is_string() || !value["message"].is_string() || !value["hint"].is_string()) return std::nullopt;
    Error error{ErrorCode::Internal, value["message"], value["hint"]};
    const std::string name = value["code"];
    for (int code = 0; code <= static_cast<int>(ErrorCode::Internal); ++code) {
        if (name == to_string(static_cast<ErrorCode>(code))) error.code = static_cast<ErrorCode>(code);
    }
    return error;
}

}  // namespace mantissa
