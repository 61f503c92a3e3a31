#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/work_folder.h"
#include "job_follower.h"
#include "judge/self_test_checks.h"
#include "output.h"
#include "plan/nearest.h"
#include "plan/presets.h"
#include "preflight.h"
#include "record/run_reader.h"
#include "signals.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t steps = 30;
constexpr double gamma = 0.95;

struct ModeResult {
    Precision mode = Precision::No;
    bool is_here = true;                // false: this machine can't run the mode; no failure
    std::vector<std::string> problems;  // or the reason why it isn't here
    double first_loss = 0;
};

Result<SourcedPlan> plan_for(Precision mode, const std::string& device, const fs::path& checkpoint = {}) {
    const auto preset = load_preset("digits-mlp");
    if (!preset) return preset.error();
    const auto layer = preset_layer(*preset);
    if (!layer) return layer.error();
    PlanLayer own{ValueSource::Flag, {}, {}};
    const std::pair<const char*, std::string> values[] = {
        {"mixed_precision", to_string(mode)},
        {"device", device},
        {"training.max_steps", std::to_string(steps)},
        {"training.scheduler.name", "step"},
        {"training.scheduler.step_size", "1"},
        {"training.scheduler.gamma", "0.95"},
        {"tf32", "off"},
        {"loss_scale.initial", "16777216"},  // 2^24: the first gradients overflow
        {"checkpoint.every", std::to_string(steps / 2)},
        {"checkpoint.keep", "2"},
        {"allow_emulated", mode == Precision::Fp8 ? "true" : "false"},  // its numbers are the same
    };
    if (!checkpoint.empty())
        if (auto set = own.set_text("checkpoint.resume_from", checkpoint.string(), "self test"); !set) return set.error();
    for (const auto& [path, text] : values)
        if (auto set = own.set_text(path, text, "self test"); !set) return set.error();
    return resolve_plan({*layer, own}, PlanUse::Train);
}

Result<SelfTestRun> read_recording(const fs::path& folder, Precision mode) {
    SelfTestRun run{mode, steps, gamma, 0, {}, {}};
    auto reader = RunReader::open(folder);
    if (!reader) return reader.error();
    auto rows = (*reader)->read_new();
    if (!rows) return rows.error();
    const auto state = (*reader)->state();
    if (!state) return state.error();
    if (state->state != RunState::Finished)
        return Error{ErrorCode::WorkerLost,
                     std::string("the training ended as ") + to_string(state->state) + ": " + state->reason,
                     ""};
    run.steps = std::move(rows->steps);
    run.op_dtypes = std::move(rows->op_dtypes);
    return run;
}

struct Trained {
    SelfTestRun run;
    fs::path folder;
};

Result<Trained> train(const SourcedPlan& plan, const fs::path& workplace) {
    auto job = prepare_job(JobKind::SingleRun, plan, workplace);
    if (!job) return job.error();
    const fs::path folder = job->folder;
    ProgressView silent(ProgressView::Style::Silent);
    const auto ended = run_supervised(std::move(*job), silent);
    if (!ended) return ended.error();
    if (signal_counts().interrupts + signal_counts().terminations > 0)
        return Error{ErrorCode::Interrupted, "interrupted", ""};
    auto run = read_recording(folder, plan.plan.mixed_precision);
    if (!run) return run.error();
    return Trained{std::move(*run), folder};
}

/// The second half once more, from the checkpoint in the middle.
Result<std::vector<std::string>> go_on(const Trained& uncut, Precision mode, const std::string& device, const fs::path& workplace) {
    const fs::path middle = RunFolder{uncut.folder}.checkpoints() / ("checkpoint_" + std::to_string(steps / 2));
    const auto plan = plan_for(mode, device, middle);
    if (!plan) return plan.error();
    const auto resumed = train(*plan, workplace);
    if (!resumed) return resumed.error();
    return differences_after_resume(uncut.run.steps, resumed->run.steps);
}

Result<ModeResult> test_mode(Precision mode, const std::string& device, const fs::path& workplace,
                             const ModeResult* control) {
    ModeResult result;
    result.mode = mode;
    const auto plan = plan_for(mode, device);
    if (!plan) return plan.error();
    if (const auto support = check_support(plan->plan, {mode}); !support) {
        if (mode == Precision::No) return support.error();
        result.is_here = false;
        result.problems = {support.error().message};
        return result;
    }
    auto run = train(*plan, workplace);
    if (!run) {
        if (run.error().code == ErrorCode::Interrupted) return run.error();
        result.problems = {describe(run.error())};
        return result;
    }
    SelfTestRun& recorded = run->run;
    if (!recorded.steps.empty()) result.first_loss = recorded.steps.front().loss;
    if (device.starts_with("cuda")) {
        const auto on_cpu = plan_for(mode, "cpu");
        if (!on_cpu) return on_cpu.error();
        const auto beside = train(*on_cpu, workplace);
        if (!beside && beside.error().code == ErrorCode::Interrupted) return beside.error();
        if (!beside) {
            result.problems.push_back("on the CPU: " + describe(beside.error()));
        } else {
            const auto apart = differences_from_cpu(mode, beside->run.steps, recorded.steps);
            result.problems.insert(result.problems.end(), apart.begin(), apart.end());
        }
    }
    recorded.control_loss = control == nullptr ? result.first_loss : control->first_loss;
    const auto broken = broken_promises(recorded);
    result.problems.insert(result.problems.end(), broken.begin(), broken.end());
    const auto differences = go_on(*run, mode, device, workplace);
    if (!differences && differences.error().code == ErrorCode::Interrupted) return differences.error();
    if (!differences) result.problems.push_back(describe(differences.error()));
    if (differences) result.problems.insert(result.problems.end(), differences->begin(), differences->end());
    return result;
}

void report(const std::vector<ModeResult>& results, bool passed, bool json) {
    Json modes = Json::array();
    for (const ModeResult& one : results) {
        const char* state = !one.is_here ? "not here" : one.problems.empty() ? "ok" : "FAILED";
        modes.push_back({{"mode", to_string(one.mode)}, {"result", state}, {"problems", one.problems}});
        if (json) continue;
        print(std::string(to_string(one.mode)) + ": " + state);
        for (const std::string& problem : one.problems) print("    " + problem);
    }
    if (json)
        print_json({{"passed", passed}, {"modes", modes}});
    else
        print(passed ? "The test of this installation was a success."
                     : "The test of this installation failed.");
}

int self_test(const std::string& device, bool json) {
    const auto recordings = WorkFolder::make("test");  // gone when the test is over
    if (!recordings) return fail(recordings.error());
    catch_signals();
    std::vector<ModeResult> results;
    bool passed = true;
    for (const Precision mode : all_precisions) {
        auto one = test_mode(mode, device, recordings->path(), results.empty() ? nullptr : &results.front());
        if (!one) return fail(one.error());
        passed = passed && (!one->is_here || one->problems.empty());
        results.push_back(std::move(*one));
    }
    report(results, passed, json);
    return passed ? 0 : 1;
}

}  // namespace

void add_test(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "test", "Self test: a short training in every mode of this machine, held against what it must show");
    struct Options {
        std::string device = "auto";
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    verb->add_option("--device", options->device, "auto (default), cpu, cuda, cuda:N");
    verb->add_flag("--json", options->json, "as one JSON object");
    verb->footer(
        "Each mode trains in a process of its own, 30 steps of digits-mlp. It must really compute in the\n"
        "mode (counted by op), skip an overflowed step and back the loss scale off, hold the schedule\n"
        "meanwhile, begin with the loss of mode no, learn, and go on from a checkpoint to the same bits. On a GPU (--device cuda) its losses and skips are held\n"
        "against the CPU's as well. Exit code 0: all well; 1: something is not.");
    verb->callback([options, &result] { result = self_test(options->device, options->json); });
}

}  // namespace mantissa::cli
