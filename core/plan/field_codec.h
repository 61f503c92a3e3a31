#pragma once
// How each C++ type of a plan's settings is read from and written to JSON. Used by plan_fields.cpp alone.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/numbers.h"
#include "plan/plan_fields.h"
#include "plan/plan_names.h"

namespace mantissa::codec {

using Json = nlohmann::json;

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};

/// The value as it stands in an error: JSON, shortened.
std::string shown(const Json& value);
/// `path is "many", a text` — with the word for the type when the type is what is wrong.
Error wrong_type(const PlanField& field, const Json& value);
Error not_allowed(const PlanField& field, const Json& value);

/// A JSON integer, or a number without a fraction (1e3), inside the field's limits.
Result<std::int64_t> read_integer(const PlanField& field, const Json& value);
Result<double> read_number(const PlanField& field, const Json& value);
Result<Precision> read_precision(const PlanField& field, const Json& value);
Result<std::vector<Precision>> read_modes(const PlanField& field, const Json& value);
Result<std::vector<std::string>> read_texts(const PlanField& field, const Json& value);
Result<std::string> read_text(const PlanField& field, const Json& value);

template <typename T>
Json encode(const T& value) {
    if constexpr (is_optional<T>::value)
        return value ? encode(*value) : Json(nullptr);
    else if constexpr (std::is_same_v<T, double>)
        return number_to_json(value);
    else if constexpr (std::is_enum_v<T>)
        return to_string(value);
    else if constexpr (std::is_same_v<T, std::vector<Precision>>) {
        Json list = Json::array();
        for (const Precision mode : value) list.push_back(to_string(mode));
        return list;
    } else
        return value;
}

template <typename T>
Result<T> decode(const PlanField& field, const Json& value) {
    if constexpr (is_optional<T>::value) {
        if (value.is_null()) return T{};
        auto read = decode<typename T::value_type>(field, value);
        if (!read) return read.error();
        return T{*read};
    } else if constexpr (std::is_same_v<T, bool>) {
        if (!value.is_boolean()) return wrong_type(field, value);
        return value.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
        auto read = read_integer(field, value);
        if (!read) return read.error();
        return static_cast<T>(*read);
    } else if constexpr (std::is_same_v<T, double>)
        return read_number(field, value);
    else if constexpr (std::is_same_v<T, Precision>)
        return read_precision(field, value);
    else if constexpr (std::is_same_v<T, std::string>)
        return read_text(field, value);
    else if constexpr (std::is_same_v<T, std::vector<Precision>>)
        return read_modes(field, value);
    else if constexpr (std::is_same_v<T, std::vector<std::string>>)
        return read_texts(field, value);
    else {
        if (!value.is_string()) return wrong_type(field, value);
        if (const auto parsed = parse_name<T>(value.get_ref<const std::string&>())) return *parsed;
        return not_allowed(field, value);
    }
}

}  // namespace mantissa::codec
