// A `mantissa` with the hidden verbs alone, for the tests of launch: what it runs is the engine module that
// MANTISSA_ENGINE names. Its finishing hook leaves a file; `start PLAN_FILE RUNS` starts a comparison and
// dies at once, as a closed window would.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "launch/job.h"
#include "launch/replay_process.h"
#include "launch/supervisor.h"
#include "launch/worker.h"
#include "plan/plan_file.h"

using namespace mantissa;

namespace {

int supervise_fake(const std::string& folder) {
    SupervisorHooks hooks;
    hooks.finish = [](const std::filesystem::path& job) {
        return write_file_atomically(job / "finished.txt", "judged\n");
    };
    if (const char* limit = std::getenv("FAKE_TRIAL_LIMIT"))
        hooks.trial_limit = std::chrono::seconds(std::atoi(limit));
    return supervise(folder, hooks);
}

int start_and_die(const std::string& plan_file, const std::string& runs) {
    auto plan = read_plan_file(plan_file);
    if (!plan) return 2;
    auto job = prepare_job(JobKind::Comparison, *plan, runs);
    if (!job) return 6;
    std::printf("%s\n", job->folder.c_str());
    std::fflush(stdout);
    const auto handle = start_supervisor(std::move(*job));
    if (!handle) std::fprintf(stderr, "%s\n", describe(handle.error()).c_str());
    ::_exit(handle ? 0 : 1);
}

}  // namespace

int main(int count, char** words) {
    const std::string verb = count > 1 ? words[1] : "";
    if (verb == "supervise" && count == 3) return supervise_fake(words[2]);
    if (verb == "worker" && count == 3) return run_worker(words[2]);
    if (verb == "trial" && count == 5) return run_trial(words[2], *parse_precision(words[3]), words[4]);
    if (verb == "replay-step" && count == 4) return run_replay_step(words[2], words[3]);
    if (verb == "start" && count == 4) return start_and_die(words[2], words[3]);
    std::fprintf(stderr, "fake mantissa: unknown verb '%s'\n", verb.c_str());
    return 2;
}
