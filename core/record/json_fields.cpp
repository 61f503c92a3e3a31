#include "record/json_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/numbers.h"

namespace mantissa::record_json {

Result<nlohmann::json> parse(const std::string& text, const std::string& source) {
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        return Error{ErrorCode::InputOutput,
                     source + " is damaged: no valid JSON at byte " + std::to_string(error.byte),
                     "restore it from a copy, or delete it"};
    } catch (const nlohmann::json::exception& error) {
        return Error{ErrorCode::InputOutput, source + " is damaged: " + error.what(),
                     "restore it from a copy, or delete it"};
    }
}

std::string dump(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Fields::Fields(const nlohmann::json& object, std::string where)
    : m_object(object), m_where(std::move(where)) {
    if (!m_object.is_object())
        m_error = Error{ErrorCode::InputOutput, m_where + " must be a JSON object", ""};
}

std::string Fields::place(const char* key) const {
    return m_where.empty() ? key : m_where + "." + key;
}

const nlohmann::json* Fields::find(const char* key) const {
    if (!m_object.is_object()) return nullptr;
    const auto found = m_object.find(key);
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void Fields::fail(const char* key, const std::string& expected) {
    if (!m_error) m_error = Error{ErrorCode::InputOutput, place(key) + " must be " + expected, ""};
}

void Fields::take(const Result<void>& nested) {
    if (!m_error && !nested) m_error = nested.error();
}

Result<void> Fields::result() const {
    if (m_error) return *m_error;
    return {};
}

void Fields::read(const char* key, std::string& value) {
    const auto* json = find(key);
    if (!json) return;
    if (!json->is_string()) return fail(key, "a text");
    value = json->get<std::string>();
}

void Fields::read(const char* key, bool& value) {
    const auto* json = find(key);
    if (!json) return;
    if (!json->is_boolean()) return fail(key, "true or false");
    value = json->get<bool>();
}

void Fields::read(const char* key, std::int64_t& value) {
    const auto* json = find(key);
    if (!json) return;
    if (!json->is_number_integer()) return fail(key, "a whole number");
    value = json->get<std::int64_t>();
}

void Fields::read(const char* key, double& value) {
    std::optional<double> number = value;
    read(key, number);
    if (number) value = *number;
}

void Fields::read(const char* key, std::optional<double>& value) {
    const auto* json = find(key);
    if (!json) return;
    const auto number = number_from_json(*json);
    if (!number) return fail(key, "a number, or one of \"NaN\" \"+Inf\" \"-Inf\"");
    value = number;
}

void Fields::read(const char* key, Precision& value) {
    std::optional<Precision> mode;
    read(key, mode);
    if (mode) value = *mode;
}

void Fields::read(const char* key, std::optional<Precision>& value) {
    const auto* json = find(key);
    if (!json) return;
    const auto mode = json->is_string() ? parse_precision(json->get<std::string>()) : std::nullopt;
    if (!mode) return fail(key, "one of no fp16 bf16 fp8");
    value = mode;
}

void Fields::read(const char* key, Support& value) {
    const auto* json = find(key);
    if (!json) return;
    const auto support = json->is_string() ? parse_support(json->get<std::string>()) : std::nullopt;
    if (!support) return fail(key, "one of native emulated unsupported");
    value = *support;
}

void Fields::read(const char* key, std::vector<std::string>& value) {
    const auto* json = find(key);
    if (!json) return;
    if (!json->is_array()) return fail(key, "a list of texts");
    value.clear();
    for (const auto& entry : *json) {
        if (!entry.is_string()) return fail(key, "a list of texts");
        value.push_back(entry.get<std::string>());
    }
}

void Fields::read(const char* key, std::map<std::string, std::string>& value) {
    const auto* json = find(key);
    if (!json) return;
    if (!json->is_object()) return fail(key, "an object of texts");
    value.clear();
    for (const auto& [name, entry] : json->items()) {
        if (!entry.is_string()) return fail(key, "an object of texts");
        value[name] = entry.get<std::string>();
    }
}

void Fields::read_objects(const char* key, const std::function<void(Fields&)>& each) {
    const auto* json = find(key);
    if (!json) return;
    if (!json->is_array()) return fail(key, "a list");
    std::size_t index = 0;
    for (const auto& entry : *json) {
        Fields fields(entry, place(key) + "[" + std::to_string(index++) + "]");
        if (fields.m_object.is_object()) each(fields);
        take(fields.result());
    }
}

void Fields::read_object(const char* key, const std::function<void(Fields&)>& one) {
    const auto* json = find(key);
    if (!json) return;
    Fields fields(*json, place(key));
    if (fields.m_object.is_object()) one(fields);
    take(fields.result());
}

}  // namespace mantissa::record_json
