#include <CLI/CLI.hpp>
#include <memory>

#include "run_verb.h"
#include "verbs.h"

namespace mantissa::cli {

void add_train(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("train", "Train one run in one precision mode");
    verb->footer(
        "Exit codes: 0 done, 2 bad plan or usage, 3 mode or device not supported, 4 stopped by a non-finite "
        "value,\n"
        "5 worker lost, 6 input/output, 130 interrupted.\n"
        "Order of sources: flag > plan file or preset > ACCELERATE_* environment > Accelerate's "
        "default_config.yaml > default.");
    auto options = std::make_shared<RunOptions>();
    add_run_options(*verb, *options, PlanUse::Train);
    verb->callback([options, &result] { result = run_verb(*options, PlanUse::Train); });
}

}  // namespace mantissa::cli
