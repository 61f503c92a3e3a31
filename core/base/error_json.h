#pragma once
// An Error on its way from one process to another.
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/result.h"

namespace mantissa {

[[nodiscard]] nlohmann::json error_to_json(const Error& error);  // code by its name, message, hint
[[nodiscard]] std::optional<Error> error_from_json(const nlohmann::json& value);  // an unknown code is Internal

}  // namespace mantissa
