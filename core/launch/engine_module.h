#pragma once
// The engine (torch side) is one shared module, loaded when it is first needed. A missing, broken or foreign
// module is an Error with the loader's own sentence and a way out, never a crash.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/engine_api.h"

namespace mantissa {

/// Versions of LibTorch that this program was written for: "2.11" means 2.11.x.
inline constexpr const char* wanted_torch = "2.11";

/// Where the module is looked for, in this order: MANTISSA_ENGINE (a file), <program folder>/../lib, <program
/// folder>, the installed library folder.
[[nodiscard]] std::vector<std::filesystem::path> engine_candidates();

/// Loads the module once per process (thread-safe; later calls return the same engine; a failure may be tried
/// again, for a window that is open while the engine is still being built). Sets OMP_WAIT_POLICY=PASSIVE
/// first if it is unset, because libgomp reads it when it is loaded.
Result<const EngineApi*> load_engine();

/// The same for one named file, without the memory of earlier calls.
Result<const EngineApi*> load_engine_from(const std::filesystem::path& file);

}  // namespace mantissa
