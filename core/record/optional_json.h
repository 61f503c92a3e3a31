#pragma once
// An optional as JSON: null when empty. For core/record and core/host.
#include <nlohmann/json.hpp>
#include <optional>

namespace mantissa::record_json {

template <typename T>
nlohmann::json optional_json(const std::optional<T>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace mantissa::record_json
