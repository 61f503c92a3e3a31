#pragma once
// A replay for people: lines while the grid fills in, and the whole of it at the end.
#include <string>
#include <vector>

#include "record/replay_report.h"

namespace mantissa::cli {

/// "bf16  this step finite, 20 steps on holds (3.1 s)": a variant that has ended.
[[nodiscard]] std::string variant_line(const VariantReport& variant);
/// "gate.mul", "aten::log", "the batch features".
[[nodiscard]] std::string birth_text(const BirthReport& birth);
/// Sentence, grid, ops around the birth, what to do next. `name`: how the run is called on a command line.
void print_replay(const ReplayReport& report, const std::string& name);

}  // namespace mantissa::cli
