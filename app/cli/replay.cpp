// `mantissa replay`: a bad step again, the grid of variants, and the run that goes on with what held.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "child_run.h"
#include "judge/replay_verdict.h"
#include "judge/texts.h"
#include "launch/replay_apply.h"
#include "launch/replay_job.h"
#include "launch/run_parent.h"
#include "output.h"
#include "record/run_summary.h"
#include "replay_bundle.h"
#include "replay_words.h"
#include "results.h"
#include "run_argument.h"
#include "signals.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

constexpr int tick_ms = 30;

struct ReplayVerb {
    std::string run, runs_dir, language, bundle, change;
    std::optional<std::int64_t> step;
    std::int64_t later = 20;
    std::vector<std::string> variants, what_if;
    bool json = false, quiet = false, apply = false, run_control = false;

    void say(const std::string& line) const {
        if (!quiet) std::fprintf(stderr, "%s\n", line.c_str());
    }
};

/// Of a comparison: the run with the first step that is worth a look.
Result<fs::path> one_run(const fs::path& folder) {
    std::error_code ignored;
    if (!fs::exists(folder / "comparison.json", ignored)) return folder;
    const auto job = read_job(folder);
    if (!job) return job.error();
    std::optional<std::pair<std::int64_t, fs::path>> first;
    for (const JobRun& run : job->runs) {
        const auto incidents = incident_steps(run.folder.path);
        const auto summary = summarize_run(run.folder.path);
        auto step = summary ? summary->first_nonfinite_step : std::nullopt;
        if (!incidents.empty()) step = incidents.front();
        if (step && (!first || *step < first->first)) first = {*step, run.folder.path};
    }
    if (first) return first->second;
    std::string names;
    for (const JobRun& run : job->runs) names += (names.empty() ? "" : ", ") + run.folder.path.filename().string();
    return Error{ErrorCode::Usage, folder.filename().string() + " is a comparison without a non-finite step", "name one of its runs: " + names};
}

bool wants_control(const ReplayVerb& verb) {
    if (verb.run_control) return true;
    if (verb.json || verb.quiet || ::isatty(STDIN_FILENO) == 0 || !is_terminal_error()) return false;
    std::fprintf(stderr, "Run the control now? [y/N] ");
    std::string answer;
    return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

/// A fault of half precision is only known beside the same plan in mode `no`.
Result<void> offer_control(const ReplayVerb& verb, const fs::path& run) {
    if (!find_control(run).empty()) {
        if (verb.run_control) verb.say("the control is there already: " + find_control(run).string());
        return {};
    }
    verb.say("no control has run: without the same plan in mode no, a fault of the mode is not told from one of data, learning rate or model");
    if (!wants_control(verb)) {
        verb.say("--run-control runs it first");
        return {};
    }
    auto job = prepare_control_run(run);
    if (!job) return job.error();
    verb.say("control: recording to " + job->folder.string());
    const auto ended = run_child(std::move(*job), verb.quiet, verb.language);
    if (!ended) return ended.error();
    if (*ended == exit_code(ErrorCode::Interrupted)) return Error{ErrorCode::Interrupted, "the control was interrupted", ""};
    return {};
}

/// Lines that have ended since the last look.
class GridLines {
  public:
    explicit GridLines(const ReplayVerb& verb) : m_verb(verb) {}
    void show(const ReplayReport& report) {
        if (report.reproduced && !m_said_reproduced) {
            m_said_reproduced = true;
            const std::string place = report.birth ? ", born in " + birth_text(*report.birth) : "";
            m_verb.say("reproduced: " + std::string(to_string(*report.reproduced)) + place);
        }
        for (const VariantReport& variant : report.variants) {
            if (variant.state == "waiting" || variant.state == "running" || !report.reproduced) continue;
            if (std::find(m_shown.begin(), m_shown.end(), variant.id) != m_shown.end()) continue;
            m_shown.push_back(variant.id);
            m_verb.say("  " + variant_line(variant));
        }
    }

  private:
    const ReplayVerb& m_verb;
    std::vector<std::string> m_shown;
    bool m_said_reproduced = false;
};

bool is_interrupted() { return signal_counts().interrupts + signal_counts().terminations > 0; }

struct Replayed {
    ReplayReport report;
    int code = 0;
};

Result<Replayed> replay(const ReplayVerb& verb, const fs::path& run) {
    GridLines lines(verb);
    ReplayHooks hooks;
    hooks.changed = [&lines](const ReplayReport& report) { lines.show(report); };
    hooks.judge = [&verb](ReplayReport& report) {
        return report.is_what_if ? Result<void>() : give_verdict(report, load_replay_facts(report), verb.language);
    };
    auto job = ReplayJob::start({run, verb.step, verb.variants, verb.later, verb.what_if}, hooks);
    if (!job) return job.error();
    for (const std::string& sentence : (*job)->subject().passed_over) verb.say(sentence);
    verb.say("replaying step " + std::to_string((*job)->report().step) + " of " + run.filename().string() + " from step " +
             std::to_string((*job)->report().start_step));
    while (!(*job)->poll()) {
        if (is_interrupted()) (*job)->stop();
        ::poll(nullptr, 0, tick_ms);
    }
    if ((*job)->error()) return *(*job)->error();
    const bool is_stopped = (*job)->report().state == "stopped";
    return Replayed{(*job)->report(), is_stopped ? exit_code(ErrorCode::Interrupted) : 0};
}

/// To apply what a replay has found already, it isn't done again.
std::optional<Replayed> replayed_before(const ReplayVerb& verb, const fs::path& run) {
    if (!verb.apply || !verb.what_if.empty() || !verb.variants.empty()) return std::nullopt;
    const auto incidents = incident_steps(run);
    if (!verb.step && incidents.empty()) return std::nullopt;
    const std::int64_t step = verb.step ? *verb.step : incidents.front();
    auto report = read_replay(incident_folder(run, step));
    if (!report || report->state == "running") return std::nullopt;
    const std::string wanted = verb.change.empty() ? report->best : verb.change;
    const bool is_there = std::any_of(report->variants.begin(), report->variants.end(),
                                      [&](const VariantReport& one) { return one.id == wanted && one.state == "done"; });
    if (!is_there) return std::nullopt;
    report->run_dir = run.string();  // it may have been moved since
    verb.say("step " + std::to_string(step) + " was replayed before: its report is taken");
    return Replayed{std::move(*report), 0};
}

/// "Apply and continue from here"; the child's exit code.
Result<int> apply(const ReplayVerb& verb, const ReplayReport& report, std::optional<JobResult>& result) {
    const std::string id = verb.change.empty() ? report.best : verb.change;
    if (id.empty())
        return Error{ErrorCode::NonFinite, "nothing can be applied: no change held", "look at the sentence and the grid, or try one with --what-if"};
    auto job = prepare_applied_run(report, id, is_interrupted);
    if (!job) return job.error();
    const fs::path folder = job->folder;
    if (const auto parent = read_parent(folder))
        verb.say(parent->change + " from step " + std::to_string(parent->step) + ": recording to " + folder.string());
    const auto ended = run_child(std::move(*job), verb.quiet, verb.language);
    if (!ended) return ended.error();
    auto loaded = load_result(folder, verb.language);
    if (!loaded) return loaded.error();
    result = std::move(*loaded);
    return *ended;
}

std::string name_on_command_line(const fs::path& run) {
    return run.parent_path() == runs_folder("") ? run.filename().string() : run.string();
}

int show(const ReplayVerb& verb, const fs::path& run, Replayed replayed) {
    int code = replayed.code;
    std::optional<JobResult> applied;
    if (!verb.json) print_replay(replayed.report, name_on_command_line(run));
    if (verb.apply && code == 0) {
        const auto ended = apply(verb, replayed.report, applied);
        code = ended ? *ended : fail(ended.error());
    }
    if (verb.json) {
        nlohmann::json all = to_json(replayed.report);
        if (applied) all["applied"] = to_json(*applied);
        print_json(all);
    } else if (applied) {
        print("");
        print_result(*applied);
    }
    return code;
}

int run_replay(ReplayVerb verb) {
    verb.language = text_language(verb.language);
    if (!verb.change.empty() && !verb.apply) return fail({ErrorCode::Usage, "--change belongs to --apply", "add --apply"});
    const auto folder = find_run(verb.run, runs_folder(verb.runs_dir));
    if (!folder) return fail(folder.error());
    const auto run = one_run(*folder);
    if (!run) return fail(run.error());
    catch_signals();
    auto before = replayed_before(verb, *run);
    if (!before) {
        // What can't be replayed is said before a control is offered.
        const auto subject = find_replay_subject(*run, verb.step);
        if (!subject) return fail(subject.error());
        verb.step = subject->step;
        if (!subject->is_healthy)
            if (const auto offered = offer_control(verb, *run); !offered) return fail(offered.error());
        auto replayed = replay(verb, *run);
        if (!replayed) return fail(replayed.error());
        before = std::move(*replayed);
    }
    const std::int64_t step = before->report.step;
    const int code = show(verb, *run, std::move(*before));
    if (!verb.bundle.empty()) {
        const auto written = write_bundle(*run, step, verb.bundle);
        if (!written) return fail(written.error());
        verb.say("bundle: " + verb.bundle);
    }
    return code;
}

}  // namespace

void add_replay(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("replay", "Do a bad step again, find where its first bad value was born, and try what holds");
    verb->footer(
        "Without --step: the first incident, else the first non-finite step. The grid: as_was, no, scale_1, bf16, island (the\n"
        "producer in fp32), previous_batch, half_rate; each in a fresh process. Ctrl-C keeps what is done.\n"
        "Exit codes: 0 done, 2 usage, 3 mode or device not supported, 5 process lost, 6 input/output, 130 interrupted; with\n"
        "--apply those of `mantissa train`.");
    auto options = std::make_shared<ReplayVerb>();
    verb->add_option("RUN", options->run, "a run folder, the name of a run or comparison (or its beginning), or last")->required();
    verb->add_option("--step", options->step, "the step that is looked at");
    verb->add_option("--variants", options->variants, "only these of the grid: no,bf16")
        ->delimiter(',')
        ->take_all()
        ->allow_extra_args(false);
    verb->add_option("--later", options->later, "further steps that each variant is tried for (20)");
    verb->add_option("--what-if,--what_if", options->what_if,
                     "one more variant: a setting of the plan that changes at the step, as in training.optimizer.learning_rate=1e-4 (may be repeated)")
        ->take_all()
        ->allow_extra_args(false);
    verb->add_flag("--apply", options->apply, "train on from the kept state with the best change, as a run of its own");
    verb->add_option("--change", options->change, "the variant that --apply takes instead of the best");
    verb->add_flag("--run-control,--run_control", options->run_control, "first run the same plan in mode no, if it has no control yet");
    verb->add_option("--bundle", options->bundle, "copy what another person needs to look at the step to this new folder");
    verb->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    verb->add_flag("--json", options->json, "the result as one JSON object on standard output");
    verb->add_flag("-q,--quiet", options->quiet, "no progress");
    add_language(*verb, options->language);
    verb->callback([options, &result] { result = run_replay(*options); });
}

}  // namespace mantissa::cli
