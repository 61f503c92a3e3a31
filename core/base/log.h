#pragma once
// Logging façade. spdlog is known to log.cpp alone (torch bundles another fmt; the two must never meet in one file).
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace mantissa::log {

enum class Level { Debug, Info, Warning, Error, Off };

void set_level(Level level);
/// Lines go to standard error by default; with a file they go there as well, flushed at each line.
Result<void> also_to_file(const std::filesystem::path& file);
/// No lines on standard error from now on (a window that owns its own log view, a progress bar).
void mute_standard_error(bool muted);

void debug(std::string_view text);
void info(std::string_view text);
void warning(std::string_view text);
void error(std::string_view text);

}  // namespace mantissa::log
