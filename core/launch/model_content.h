#pragma once
// What a model file held when its run was made: the recording keeps its SHA-256. A layer list is short and easily edited; a run that goes
// on, is done again or begins late with another content would be another run.
#include <filesystem>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

inline constexpr const char* model_sha256_key = "model_sha256";  // in the table meta; absent for a model of the catalogue

/// SHA-256 of the model file.
Result<std::string> model_content(const ModelPlan& model);

/// InputOutput when the file isn't what it was when `run` was made. A run that recorded nothing passes.
Result<void> require_same_model(const std::filesystem::path& run, const ModelPlan& model);

}  // namespace mantissa
