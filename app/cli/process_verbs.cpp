// What this program starts of itself (core/launch): no names for people.
#include <CLI/CLI.hpp>
#include <memory>

#include "finish_job.h"
#include "judge/texts.h"
#include "launch/replay_process.h"
#include "launch/supervisor.h"
#include "launch/worker.h"
#include "output.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

struct ProcessOptions {
    std::string folder, plan, mode, output;
};

}  // namespace

void add_process_verbs(CLI::App& program, int& result) {
    auto options = std::make_shared<ProcessOptions>();

    auto* worker = program.add_subcommand("worker", "")->group("");
    worker->add_option("RUN_DIR", options->folder)->required();
    worker->callback([options, &result] { result = run_worker(options->folder); });

    auto* supervisor = program.add_subcommand("supervise", "")->group("");
    supervisor->add_option("JOB_FOLDER", options->folder)->required();
    supervisor->callback([options, &result] {
        SupervisorHooks hooks;
        hooks.finish = [](const std::filesystem::path& folder) {
            return finish_job(folder, text_language());
        };
        result = supervise(options->folder, hooks);
    });

    auto* replay_step = program.add_subcommand("replay-step", "")->group("");
    replay_step->add_option("REQUEST_FILE", options->plan)->required();
    replay_step->add_option("OUT_FILE", options->output)->required();
    replay_step->callback([options, &result] { result = run_replay_step(options->plan, options->output); });

    auto* trial = program.add_subcommand("trial", "")->group("");
    trial->add_option("PLAN_FILE", options->plan)->required();
    trial->add_option("MODE", options->mode)->required();
    trial->add_option("OUT_FILE", options->output)->required();
    trial->callback([options, &result] {
        const auto mode = parse_precision(options->mode);
        result = mode ? run_trial(options->plan, *mode, options->output)
                      : fail({ErrorCode::Usage, "\"" + options->mode + "\" is no precision mode",
                              "use no, fp16, bf16 or fp8"});
    });
}

}  // namespace mantissa::cli
