#pragma once
// Questions to the engine (probe, environment, support) are asked in a child process: this program stays
// small while it follows a run, and a LibTorch that crashes while loading is a sentence.
#include <functional>
#include <string>

#include "base/result.h"
#include "host/engine_api.h"

namespace mantissa::cli {

/// Runs `question` in a child with the engine loaded and returns its text. The child's words go to standard
/// error. Must be called before this process starts threads.
Result<std::string> ask_engine(const std::function<Result<std::string>(const EngineApi&)>& question);

}  // namespace mantissa::cli
