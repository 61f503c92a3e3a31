#include "arguments.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/engine_error.h"

namespace mantissa::golden {

using nlohmann::json;

Arguments::Arguments(const json& name_and_arguments, const char* what)
    : m_what(what), m_positional(std::make_unique<json>(json::array())), m_named(std::make_unique<json>(json::object())) {
    if (!name_and_arguments.is_array() || name_and_arguments.empty() || !name_and_arguments[0].is_string()) {
        throw EngineError({ErrorCode::BadPlan, std::string(what) + " is " + name_and_arguments.dump() +
                                                   ", not a list that begins with a name", ""});
    }
    m_name = name_and_arguments[0].get<std::string>();
    for (std::size_t i = 1; i < name_and_arguments.size(); ++i) {
        if (name_and_arguments[i].is_object()) {
            *m_named = name_and_arguments[i];
        } else {
            m_positional->push_back(name_and_arguments[i]);
        }
    }
}

Arguments::~Arguments() = default;

void Arguments::refuse(const std::string& why) const {
    throw EngineError({ErrorCode::BadPlan, std::string(m_what) + " " + m_name + ": " + why, ""});
}

const json* Arguments::find(const std::string& name) {
    m_used.insert(name);
    const auto at = std::find(m_parameters.begin(), m_parameters.end(), name);
    const auto index = static_cast<std::size_t>(at - m_parameters.begin());
    if (at != m_parameters.end() && index < m_positional->size()) {
        return &(*m_positional)[index];
    }
    const auto found = m_named->find(name);
    return found == m_named->end() ? nullptr : &*found;
}

bool Arguments::has(const std::string& name) {
    const json* value = find(name);
    return value != nullptr && !value->is_null();
}

bool Arguments::is_null(const std::string& name) {
    const json* value = find(name);
    return value != nullptr && value->is_null();
}

bool Arguments::is_text(const std::string& name) {
    const json* value = find(name);
    return value != nullptr && value->is_string();
}

double Arguments::number(const std::string& name, std::optional<double> standard) {
    const auto all = numbers(name, standard ? std::vector<double>{*standard} : std::vector<double>{});
    if (all.size() != 1) refuse(all.empty() ? "'" + name + "' is missing" : "'" + name + "' is not one number");
    return all[0];
}

std::vector<double> Arguments::numbers(const std::string& name, std::vector<double> standard) {
    const json* value = find(name);
    if (value == nullptr) return standard;
    const json list = value->is_array() ? *value : json::array({*value});
    std::vector<double> all;
    for (const json& one : list) {
        if (!one.is_number()) refuse("'" + name + "' is " + value->dump() + ", not a number");
        all.push_back(one.get<double>());
    }
    return all;
}

std::int64_t Arguments::whole(const std::string& name, std::optional<std::int64_t> standard) {
    const auto all = wholes(name, standard ? std::vector<std::int64_t>{*standard} : std::vector<std::int64_t>{});
    if (all.size() != 1) refuse(all.empty() ? "'" + name + "' is missing" : "'" + name + "' is not one whole number");
    return all[0];
}

std::vector<std::int64_t> Arguments::wholes(const std::string& name, std::vector<std::int64_t> standard) {
    const json* value = find(name);
    if (value == nullptr) return standard;
    const json list = value->is_array() ? *value : json::array({*value});
    std::vector<std::int64_t> all;
    for (const json& one : list) {
        if (!one.is_number_integer()) refuse("'" + name + "' is " + value->dump() + ", not a whole number");
        all.push_back(one.get<std::int64_t>());
    }
    return all;
}

std::vector<std::int64_t> Arguments::rest_wholes() {
    std::vector<std::int64_t> all;
    for (const json& one : *m_positional) {
        if (!one.is_number_integer()) refuse(one.dump() + " is not a whole number");
        all.push_back(one.get<std::int64_t>());
    }
    m_parameters.assign(all.size(), "shape");
    m_used.insert("shape");
    return all;
}

bool Arguments::truth(const std::string& name, bool standard) {
    const json* value = find(name);
    if (value == nullptr || value->is_null()) return standard;
    if (!value->is_boolean()) refuse("'" + name + "' is " + value->dump() + ", not true or false");
    return value->get<bool>();
}

std::string Arguments::text(const std::string& name, const std::string& standard) {
    const json* value = find(name);
    if (value == nullptr) return standard;
    if (!value->is_string()) refuse("'" + name + "' is " + value->dump() + ", not a text");
    return value->get<std::string>();
}

void Arguments::only_default(const std::string& name) {
    const json* value = find(name);
    if (value != nullptr && !value->is_null() && *value != json(false)) {
        refuse("'" + name + "' is " + value->dump() + "; only its default is repeated here");
    }
}

void Arguments::finish() {
    if (m_positional->size() > m_parameters.size()) {
        refuse("it takes at most " + std::to_string(m_parameters.size()) + " arguments by position");
    }
    for (const auto& [name, value] : m_named->items()) {
        if (!m_used.contains(name)) refuse("the argument '" + name + "' is not known");
    }
    for (std::size_t i = 0; i < m_positional->size(); ++i) {
        if (!m_used.contains(m_parameters[i])) refuse("the argument '" + m_parameters[i] + "' is not repeated here");
    }
}

}  // namespace mantissa::golden
