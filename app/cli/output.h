#pragma once
// Standard output is the result, standard error is progress and log.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "record/rows.h"

namespace mantissa::cli {

/// Message and hint on standard error; the exit code of the error.
int fail(const Error& error);
void print(std::string_view line);  // one line of the result
/// A state of a run in English words, for lists and progress.
[[nodiscard]] std::string state_words(RunState state);
void print_json(const nlohmann::json& value);
/// First of all: /dev/null in place of a standard stream that was closed, so that no file takes its number.
/// Writing the result to a closed standard output stays an error.
void open_missing_descriptors();
/// Flushes standard output. A result that could not be written is an error (full disk), but for a reader of a
/// pipe that went away.
int finish_output(int result);

[[nodiscard]] bool is_terminal_error();   // standard error is a terminal
[[nodiscard]] bool is_terminal_output();  // standard output is one
[[nodiscard]] bool has_utf8_locale();

}  // namespace mantissa::cli
