#include "run_verb.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/paths.h"
#include "finish_job.h"
#include "job_follower.h"
#include "joined_run.h"
#include "judge/html_report.h"
#include "judge/texts.h"
#include "launch/resume.h"
#include "launch/run_lookup.h"
#include "output.h"
#include "plan/validate.h"
#include "record/rank_file.h"
#include "preflight.h"
#include "resume_lines.h"
#include "results.h"
#include "run_argument.h"
#include "signals.h"

namespace mantissa::cli {
namespace {

ProgressView::Style style_of(const RunOptions& options) {
    if (options.quiet) return ProgressView::Style::Silent;
    return is_terminal_error() ? ProgressView::Style::Bars : ProgressView::Style::Lines;
}

std::vector<Precision> modes_of(const RunPlan& plan, PlanUse use) {
    return use == PlanUse::Compare ? plan.modes : std::vector<Precision>{plan.mixed_precision};
}

void say_first_lines(const Preflight& preflight, const SourcedPlan& plan, const std::filesystem::path& job_folder,
                     const std::string& language, ProgressView& view) {
    for (const std::string& line : first_lines(preflight)) view.line(line);
    if (const std::string warmup = warmup_text(plan.plan); !warmup.empty()) view.line(warmup);
    for (const std::string& line : plan.overruled_lines()) view.line(line);
    for (const std::string& note : plan.notes) view.line("note: " + note);
    for (const std::string& line : resume_lines(job_folder, language)) view.line(line);
}

Result<int> run_job(PreparedJob job, const SourcedPlan& plan, const std::string& language, ProgressView& view,
                    const std::optional<LaunchedRank>& launch) {
    if (!launch && plan.plan.launch.scope != LaunchScope::Thread) return run_supervised(std::move(job), view);
    // The engine's words go to worker.log, as those of a worker process do.
    log::mute_standard_error(true);
    if (auto file = log::also_to_file(rank_log(job.runs.front().folder.path, launch ? launch->place.rank : 0)); !file)
        return file.error();
    return run_in_thread(std::move(job), view, [language](const auto& folder) { return finish_job(folder, language); },
                         launch ? std::optional(launch->place) : std::nullopt);
}

/// Without progress lines nobody has said yet why a run ended badly.
void say_reasons(const JobResult& result) {
    for (const RunSummary& run : result.runs)
        if (run.state == RunState::Failed || run.state == RunState::Lost ||
            run.state == RunState::StoppedNonfinite)
            std::fprintf(stderr, "mantissa: %s %s: %s\n", to_string(run.mode), to_string(run.state),
                         run.state_reason.c_str());
}

/// A rank beside the main one: it trains along, and rank 0 says what there is to say.
int follow_rank_0(const LaunchedRank& launch, const SourcedPlan& plan, const std::string& language) {
    catch_signals();
    auto job = share_job(launch, {});
    if (!job) return fail(job.error());
    ProgressView view(ProgressView::Style::Silent);
    const auto ended = run_job(std::move(*job), plan, language, view, launch);
    return ended ? *ended : fail(ended.error());
}

int show_result(const RunOptions& options, const std::filesystem::path& folder, const std::string& language) {
    // The supervisor judged and reported in the language of the environment.
    if (language != text_language())
        if (auto report = write_html_report(folder, language); !report) fail(report.error());
    auto result = load_result(folder, language);
    if (!result) return fail(result.error());
    if (options.quiet) say_reasons(*result);
    if (options.json)
        print_json(to_json(*result));
    else
        print_result(*result);
    return 0;
}

}  // namespace

void add_run_options(CLI::App& verb, RunOptions& options, PlanUse use) {
    options.plan.add_to(verb, use);
    verb.add_option("--runs-dir,--runs_dir", options.runs_dir,
                    "folder of the runs (else MANTISSA_RUNS_DIR, else $XDG_DATA_HOME/mantissa/runs)");
    verb.add_flag("--json", options.json, "the result as one JSON object on standard output");
    verb.add_flag("-q,--quiet", options.quiet, "no progress and no log");
    add_language(verb, options.language);
    if (use == PlanUse::Compare)
        verb.add_flag("--strict", options.strict, "exit code 4 when a run was stopped by a non-finite value");
}

int run_verb(const RunOptions& options, PlanUse use) {
    auto plan = options.plan.resolve(use, runs_folder(options.runs_dir));
    if (!plan) return fail(plan.error());
    const auto launch = find_launch(*plan, process_environment());
    if (!launch) return fail(launch.error());
    if (*launch) take_launch(*plan, **launch);
    const std::string language = text_language(options.language);
    const JobKind kind = use == PlanUse::Compare ? JobKind::Comparison : JobKind::SingleRun;
    const auto runs = runs_folder(options.runs_dir);
    if (*launch && (*launch)->place.rank > 0) return follow_rank_0(**launch, *plan, language);
    std::optional<Preflight> preflight;
    const auto prepare = [&]() -> Result<PreparedJob> {
        if (const auto fits = settle_resume(kind, *plan, runs); !fits) return fits.error();
        auto support = check_support(plan->plan, modes_of(plan->plan, use));
        if (!support) return support.error();
        preflight = std::move(*support);
        catch_signals();
        return prepare_job(kind, *plan, runs);
    };
    auto job = *launch ? share_job(**launch, prepare) : prepare();
    if (!job) return fail(job.error());
    const auto folder = job->folder;
    Result<int> ended = 0;
    {
        ProgressView view(style_of(options));
        if (*launch) view.line((*launch)->told());
        say_first_lines(*preflight, *plan, folder, language, view);
        view.line("recording to " + folder.string());
        ended = run_job(std::move(*job), *plan, language, view, *launch);
    }
    int code = ended ? *ended : fail(ended.error());
    if (const int shown = show_result(options, folder, language); shown != 0 && code == 0) code = shown;
    if (code == 0 && options.strict) code = job_exit_code(folder, true);
    return code;
}

}  // namespace mantissa::cli
