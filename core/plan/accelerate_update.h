#pragma once
// Writing Accelerate's configuration file: a new one, and an old one brought to the form of accelerate 1.15
// (commands/config/config_args.py process_config). YAML is edited line by line, so that order, comments and
// every key that isn't named here stay as they are.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa {

/// The smallest file that `accelerate launch` takes on one machine; JSON when `file` ends in .json.
[[nodiscard]] std::string default_accelerate_config(Precision mode, const std::string& file);

struct ConfigUpdate {
    std::string text;
    std::vector<std::string> changes;  // "mixed_precision: no → 'no'"; empty: nothing to do
};

/// Legacy `fp16` becomes mixed_precision, `dynamo_backend` becomes dynamo_config; mixed_precision and
/// distributed_type are spelled so that YAML doesn't read a bare `no` as false; keys that launch needs are
/// added at the end. BadPlan: unknown keys, bad values, or a form that can't be edited by lines.
/// `values`: keys of the top level (mixed_precision, use_cpu) that get a new value as well.
Result<ConfigUpdate> update_accelerate_config(std::string_view text, const std::string& file,
                                              const std::vector<std::pair<std::string, std::string>>& values = {});

}  // namespace mantissa
