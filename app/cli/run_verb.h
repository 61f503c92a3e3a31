#pragma once
// What train and compare have in common.
#include <string>

#include "plan_options.h"

namespace mantissa::cli {

struct RunOptions {
    PlanOptions plan;
    std::string runs_dir, language;
    bool json = false, quiet = false, strict = false;
};

void add_run_options(CLI::App& verb, RunOptions& options, PlanUse use);
/// Plan, support, folders, runs, result; the exit code.
int run_verb(const RunOptions& options, PlanUse use);

}  // namespace mantissa::cli
