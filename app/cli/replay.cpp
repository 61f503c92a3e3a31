// `mantissa replay`: a bad step again, the grid of variants, and the run that goes on with what held.
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "base/paths.h"
#include "child_run.h"
#include "judge/replay_command.h"
#include "judge/replay_verdict.h"
#include "judge/texts.h"
#include "launch/bundle.h"
#include "launch/replay_apply.h"
#include "launch/replay_job.h"
#include "launch/run_parent.h"
#include "output.h"
#include "record/run_folder.h"
#include "record/run_summary.h"
#include "replay_words.h"
#include "results.h"
#include "run_argument.h"
#include "signals.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

constexpr int tick_ms = 30;

bool is_interrupted() { return signal_counts().interrupts + signal_counts().terminations > 0; }

struct ReplayVerb {
    std::string run, runs_dir, language, bundle, change;
    std::optional<std::int64_t> step;
    std::int64_t later = 20;
    std::vector<std::string> variants, what_if;
    bool json = false, quiet = false, apply = false, run_control = false;
    bool is_bundle = false;  // RUN is one, unpacked for this look only

    [[nodiscard]] ReplayWords words() const { return ReplayWords(language); }
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

/// Empty: not asked, or an end of the input.
std::string answer_of_a_person() {
    std::string answer;
    char letter = 0;
    // Not std::getline, which would go on waiting after a Ctrl-C.
    while (!is_interrupted() && ::read(STDIN_FILENO, &letter, 1) == 1) {
        if (letter == '\n') return answer;
        answer += letter;
    }
    std::fputc('\n', stderr);
    return "";
}

bool wants_control(const ReplayVerb& verb) {
    if (verb.run_control) return true;
    if (verb.json || verb.quiet || verb.is_bundle || ::isatty(STDIN_FILENO) == 0 || !is_terminal_error()) return false;
    std::fprintf(stderr, "%s ", verb.words().text("ask_control").c_str());
    const std::string answer = answer_of_a_person();
    return answer == "y" || answer == "Y" || answer == "yes";
}

Error interrupted_early(const ReplayVerb& verb, std::int64_t step) {
    return {ErrorCode::Interrupted, verb.words().text("interrupted.early", {{"step", std::to_string(step)}}), ""};
}

/// A fault of half precision is only known beside the same plan in mode `no`.
Result<void> offer_control(const ReplayVerb& verb, const ReplaySubject& subject) {
    const ReplayWords words = verb.words();
    if (!subject.control_run.empty()) {
        if (verb.run_control) verb.say(words.text("control_there", {{"run", subject.control_run.string()}}));
        return {};
    }
    verb.say(words.text("no_control", {{"mode", to_string(subject.mode())}}));
    if (!wants_control(verb)) {
        if (is_interrupted()) return interrupted_early(verb, subject.step);
        if (!verb.is_bundle) verb.say(words.text("how_control"));
        return {};
    }
    auto job = prepare_control_run(subject.run);
    if (!job) return job.error();
    verb.say(words.text("control", {{"run", job->folder.string()}}));
    const auto ended = run_child(std::move(*job), verb.quiet, verb.language);
    if (!ended) return ended.error();
    if (*ended == exit_code(ErrorCode::Interrupted)) return interrupted_early(verb, subject.step);
    return {};
}

/// Lines that have ended since the last look.
class GridLines {
  public:
    explicit GridLines(const ReplayVerb& verb) : m_verb(verb), m_words(verb.words()) {}
    void show(const ReplayReport& report) {
        if (!report.reproduced) return;
        const bool is_first = !m_said_reproduced;
        if (is_first) m_verb.say(m_words.reproduced(report));
        m_said_reproduced = true;
        for (const VariantReport& variant : report.variants) {
            if (variant.state == "waiting" || variant.state == "running") continue;
            if (std::find(m_shown.begin(), m_shown.end(), variant.id) != m_shown.end()) continue;
            m_shown.push_back(variant.id);
            // What is there at once, but for the step as it was, is from an earlier replay: the table has it.
            if (!is_first || variant.id == "as_was" || variant.state != "done") m_verb.say("  " + m_words.line(variant));
        }
    }

  private:
    const ReplayVerb& m_verb;
    ReplayWords m_words;
    std::vector<std::string> m_shown;
    bool m_said_reproduced = false;
};

struct Replayed {
    ReplayReport report;
    int code = 0;
};

void say_what_is_kept(const ReplayVerb& verb, const ReplayReport& report) {
    const auto& all = report.variants;
    const auto done = std::count_if(all.begin(), all.end(), [](const VariantReport& one) { return one.state == "done"; });
    verb.say(verb.words().text("interrupted.kept", {{"done", std::to_string(done)},
                                                    {"all", std::to_string(all.size())},
                                                    {"folder", incident_folder(report.run_dir, report.step).string()}}));
}

Result<Replayed> replay(const ReplayVerb& verb, const fs::path& run) {
    const HangupCaught guard;
    GridLines lines(verb);
    ReplayHooks hooks;
    hooks.changed = [&lines](const ReplayReport& report) { lines.show(report); };
    hooks.judge = [&verb](ReplayReport& report) {
        return report.is_what_if ? Result<void>() : give_verdict(report, load_replay_facts(report), verb.language);
    };
    auto job = ReplayJob::start({run, verb.step, verb.variants, verb.later, verb.what_if}, hooks);
    if (!job) return job.error();
    for (const std::string& sentence : (*job)->subject().passed_over) verb.say(sentence);
    const ReplayReport& report = (*job)->report();
    verb.say(verb.words().text("replaying", {{"step", std::to_string(report.step)},
                                             {"run", verb.is_bundle ? verb.run : run.filename().string()},
                                             {"start", std::to_string(report.start_step)}}));
    while (!(*job)->poll()) {
        if (is_interrupted()) (*job)->stop();
        ::poll(nullptr, 0, tick_ms);
    }
    if ((*job)->error()) return *(*job)->error();
    if (report.state != "stopped") return Replayed{report, 0};
    if (!report.reproduced) return interrupted_early(verb, report.step);
    say_what_is_kept(verb, report);
    return Replayed{report, exit_code(ErrorCode::Interrupted)};
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
    verb.say(verb.words().text("before", {{"step", std::to_string(step)}}));
    return Replayed{std::move(*report), 0};
}

/// "Apply and continue from here"; the child's exit code.
Result<int> apply(const ReplayVerb& verb, const ReplayReport& report, std::optional<JobResult>& result) {
    const std::string id = verb.change.empty() ? report.best : verb.change;
    if (id.empty()) {
        const auto held = std::find_if(report.variants.begin(), report.variants.end(), [](const VariantReport& one) { return one.id != "as_was" && one.holds(); });
        if (held != report.variants.end())
            return Error{ErrorCode::NonFinite, "nothing is applied: the change \"" + held->change() + "\" held, but the cause is open, so no change is advised",
                         "take it all the same with --change " + held->id + ", or try more variants"};
        return Error{ErrorCode::NonFinite, "nothing can be applied: no change held", "look at the sentence and the grid, or try one with --what-if"};
    }
    auto job = prepare_applied_run(report, id, is_interrupted);
    if (!job) return job.error();
    const fs::path folder = job->folder;
    const auto variant = std::find_if(report.variants.begin(), report.variants.end(), [&](const VariantReport& one) { return one.id == id; });
    const ReplayWords words = verb.words();
    verb.say(words.text("applying", {{"change", words.change(*variant)}, {"step", std::to_string(variant->from_step)}, {"run", folder.string()}}));
    const auto ended = run_child(std::move(*job), verb.quiet, verb.language);
    if (!ended) return ended.error();
    auto loaded = load_result(folder, verb.language);
    if (!loaded) return loaded.error();
    result = std::move(*loaded);
    return *ended;
}

int show(const ReplayVerb& verb, const fs::path& run, Replayed replayed) {
    int code = replayed.code;
    std::optional<JobResult> applied;
    if (!verb.json) {
        // Nothing is said about applying where it can't be done, or is about to be.
        const bool may_apply = !verb.apply && !verb.is_bundle;
        verb.words().print(replayed.report, may_apply ? replay_command(run, replayed.report.step) : "");
    }
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

/// What would only be found out after the replay.
Result<void> check_usage(const ReplayVerb& verb) {
    if (!verb.change.empty() && !verb.apply) return Error{ErrorCode::Usage, "--change belongs to --apply", "add --apply"};
    if (verb.is_bundle && (verb.apply || verb.run_control))
        return Error{ErrorCode::Usage, std::string(verb.apply ? "--apply" : "--run-control") + " makes a run, and a bundle is unpacked for one look only",
                     "make a run of it first: mantissa runs unpack " + verb.run};
    if (verb.bundle.empty()) return {};
    const fs::path file = verb.bundle;
    std::error_code ignored;
    if (file.extension() != ".zip") return Error{ErrorCode::Usage, "--bundle: a bundle is a .zip file, not " + verb.bundle, "name it " + verb.bundle + ".zip"};
    if (fs::exists(file, ignored)) return Error{ErrorCode::Usage, "--bundle: " + verb.bundle + " is there already", "name a new file"};
    if (file.has_parent_path() && !fs::is_directory(file.parent_path(), ignored))
        return Error{ErrorCode::InputOutput, "--bundle: there is no folder " + file.parent_path().string(), "make it, or name another one"};
    return {};
}

Result<void> save_bundle(const ReplayVerb& verb, const fs::path& run, std::int64_t step) {
    const auto written = write_bundle(run, step, verb.bundle);
    if (!written) return written.error();
    verb.say(verb.words().text("bundle", {{"file", verb.bundle},
                                          {"files", std::to_string(written->files)},
                                          {"size", readable_bytes(static_cast<std::uint64_t>(written->bytes))}}));
    return {};
}

int run_replay(ReplayVerb verb) {
    verb.language = text_language(verb.language);
    verb.is_bundle = looks_like_bundle(verb.run);
    if (const auto right = check_usage(verb); !right) return fail(right.error());
    catch_signals();  // before anything is unpacked that must not stay
    const auto named = find_run_or_bundle(verb.run, runs_folder(verb.runs_dir));
    if (!named) return fail(named.error());
    if (verb.is_bundle) verb.say(verb.words().text("unpacked", {{"file", verb.run}}));
    const auto run = one_run(named->folder);
    if (!run) return fail(run.error());
    if (!verb.bundle.empty() && !RunLock::is_free(RunFolder{*run}))
        return fail({ErrorCode::InputOutput, run->filename().string() + " is running: it can't be put into a bundle now", "wait for its end, or replay without --bundle"});
    auto before = replayed_before(verb, *run);
    if (!before) {
        // What can't be replayed is said before a control is offered.
        const auto subject = find_replay_subject(*run, verb.step);
        if (!subject) return fail(subject.error());
        verb.step = subject->step;
        if (!subject->is_healthy)
            if (const auto offered = offer_control(verb, *subject); !offered) return fail(offered.error());
        auto replayed = replay(verb, *run);
        if (!replayed) return fail(replayed.error());
        before = std::move(*replayed);
    }
    const std::int64_t step = before->report.step;
    const int code = show(verb, *run, std::move(*before));
    if (!verb.bundle.empty())
        if (const auto saved = save_bundle(verb, *run, step); !saved) return fail(saved.error());
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
    verb->add_option("RUN", options->run, "a run folder, the name of a run or comparison (or its beginning), last, or a bundle (.zip)")->required();
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
    verb->add_option("--bundle", options->bundle, "write what another person needs to look at the step to this new .zip file");
    verb->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    verb->add_flag("--json", options->json, "the result as one JSON object on standard output");
    verb->add_flag("-q,--quiet", options->quiet, "no progress");
    add_language(*verb, options->language);
    verb->callback([options, &result] { result = run_replay(*options); });
}

}  // namespace mantissa::cli
