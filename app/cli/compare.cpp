#include <CLI/CLI.hpp>
#include <memory>

#include "run_verb.h"
#include "verbs.h"

namespace mantissa::cli {

void add_compare(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "compare", "Train the same plan in several precision modes, side by side, and decide");
    verb->footer(
        "Each mode runs in a fresh process with the same initial weights and batch order. A comparison runs "
        "300 steps unless a flag\n"
        "or a plan file of one's own says otherwise. Exit code 0 when every run ended or stopped by its own "
        "rule;\nwith --strict 4 when one met a non-finite value.");
    auto options = std::make_shared<RunOptions>();
    add_run_options(*verb, *options, PlanUse::Compare);
    verb->callback([options, &result] { result = run_verb(*options, PlanUse::Compare); });
}

}  // namespace mantissa::cli
