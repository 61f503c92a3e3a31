#pragma once
// Bodies of the hidden verbs `mantissa worker RUN_DIR` and `mantissa trial PLAN_FILE MODE OUT_FILE`, each in
// a fresh process.
#include <filesystem>
#include <functional>

#include "base/precision.h"
#include "base/result.h"
#include "host/engine_api.h"

namespace mantissa {

/// How a process gets its engine; tests give a fake.
using EngineLoader = std::function<Result<const EngineApi*>()>;

/// Takes the run's lock, opens the recorder, loads the engine and trains on a worker thread; the main thread
/// listens to the supervisor and to signals (SIGTERM stops, SIGINT interrupts, both after the step). Returns
/// the exit code of design §5; the end state stands in the recording. A worker whose supervisor died finishes
/// its run all the same.
int run_worker(const std::filesystem::path& run_folder, const EngineLoader& loader = {});

/// One batch of the plan's model in `mode`, the TrialReport as JSON in `out_file`. A refusal is a report too
/// (exit code 3).
int run_trial(const std::filesystem::path& plan_file, Precision mode, const std::filesystem::path& out_file,
              const EngineLoader& loader = {});

}  // namespace mantissa
