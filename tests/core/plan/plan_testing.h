#pragma once
#include <map>
#include <string>

#include "plan/plan_sources.h"

namespace mantissa {

/// The whole sentence of a failed result, as the command line prints it.
template <typename T>
std::string sentence(const Result<T>& result) {
    return result.ok() ? "no error" : describe(result.error());
}

inline EnvironmentLookup fake_environment(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

}  // namespace mantissa
