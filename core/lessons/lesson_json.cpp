#include "lessons/lesson_json.h"

#include "base/numbers.h"
#include "plan/nearest.h"

namespace mantissa {

using Json = nlohmann::json;

LessonFields::LessonFields(const Json& object, std::string where, std::optional<Error>& error)
    : m_object(object), m_where(std::move(where)), m_error(error) {
    if (!object.is_object()) fail({}, "is no object");
}

void LessonFields::fail(const std::string& key, const std::string& problem) {
    if (m_error) return;
    m_error = Error{ErrorCode::BadPlan, m_where + (key.empty() ? "" : "." + key) + " " + problem, {}};
}

const Json* LessonFields::find(const char* key, bool needed) {
    m_asked.insert(key);
    if (!m_object.is_object()) return nullptr;
    const auto found = m_object.find(key);
    if (found != m_object.end()) return &*found;
    if (needed) fail(key, "is missing");
    return nullptr;
}

std::string LessonFields::text(const char* key, bool needed) {
    const Json* value = find(key, needed);
    if (value == nullptr) return {};
    if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
        fail(key, "must be a text");
        return {};
    }
    return value->get<std::string>();
}

std::vector<std::string> LessonFields::texts(const char* key) {
    const Json* value = find(key, false);
    if (value == nullptr) return {};
    std::vector<std::string> list;
    if (!value->is_array()) fail(key, "must be a list of texts");
    for (const Json& entry : *value) {
        if (!entry.is_string()) {
            fail(key, "must be a list of texts");
            return {};
        }
        list.push_back(entry.get<std::string>());
    }
    return list;
}

std::optional<std::int64_t> LessonFields::whole(const char* key, bool needed) {
    const Json* value = find(key, needed);
    if (value == nullptr) return std::nullopt;
    if (value->is_number_integer()) return value->get<std::int64_t>();
    fail(key, "must be a whole number");
    return std::nullopt;
}

std::optional<double> LessonFields::number(const char* key) {
    const Json* value = find(key, false);
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) return value->get<double>();
    fail(key, "must be a number");
    return std::nullopt;
}

std::optional<Precision> LessonFields::mode(const char* key) {
    const std::string written = text(key, false);
    if (written.empty()) return std::nullopt;
    const auto mode = parse_precision(written);
    if (!mode) fail(key, "is \"" + written.substr(0, 40) + "\", not one of no, fp16, bf16, fp8");
    return mode;
}

bool LessonFields::flag(const char* key) {
    const Json* value = find(key, false);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail(key, "must be true or false");
    return value->is_boolean() && value->get<bool>();
}

const Json* LessonFields::object(const char* key) {
    const Json* value = find(key, false);
    if (value == nullptr || value->is_object()) return value;
    fail(key, "must be an object");
    return nullptr;
}

std::vector<LessonFields> LessonFields::objects(const char* key) {
    const Json* value = find(key, false);
    std::vector<LessonFields> list;
    if (value == nullptr) return list;
    if (!value->is_array()) fail(key, "must be a list");
    std::size_t index = 0;
    if (value->is_array())
        for (const Json& entry : *value) list.emplace_back(entry, m_where + "." + key + "[" + std::to_string(index++) + "]", m_error);
    return list;
}

void LessonFields::refuse_others() {
    if (!m_object.is_object()) return;
    for (const auto& [key, value] : m_object.items()) {
        if (m_asked.count(key) != 0) continue;
        const auto near = nearest_names(key, {m_asked.begin(), m_asked.end()});
        fail(key.substr(0, 60), "is no field of it" + (near.empty() ? std::string() : " (did you mean " + join_names(near) + "?)"));
    }
}

}  // namespace mantissa
