#pragma once
// Where settings come from, for `config show` and `env`.
#include <nlohmann/json_fwd.hpp>

#include "plan/plan_sources.h"

namespace mantissa::cli {

/// {values: {path: {value, source, detail, overruled}}, notes}
[[nodiscard]] nlohmann::json sources_json(const SourcedPlan& plan);
/// Table of all values that are no built-in defaults, the overruled ones, and the notes.
void print_sources(const SourcedPlan& plan);

}  // namespace mantissa::cli
