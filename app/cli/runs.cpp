#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "judge/texts.h"
#include "launch/bundle.h"
#include "launch/checkpoint_answer.h"
#include "launch/control_client.h"
#include "launch/job.h"
#include "launch/run_lookup.h"
#include "output.h"
#include "record/comparison_record.h"
#include "record/run_folder.h"
#include "record/run_summary.h"
#include "results.h"
#include "run_argument.h"
#include "runs_checkpoints.h"
#include "runs_incidents.h"
#include "runs_show.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

struct RunsOptions {
    std::string runs_dir, run, command, mode, language, into;
    bool json = false;
};

std::string comparison_line(const std::filesystem::path& runs, const std::string& id) {
    const auto record = read_comparison(comparison_folder(runs, id));
    return "comparison " + id + " (" + (record ? state_text(*record) : "unreadable: " + record.error().message) + ")";
}

/// A folder that can't be read is a line of its own, so that one damaged run doesn't hide the others.
int list_runs(const RunsOptions& options) {
    const auto runs = runs_folder(options.runs_dir);
    const auto folders = list_run_folders(runs);
    if (!folders) return fail(folders.error());
    Table table;
    for (const char* title : {"started", "run", "mode", "state"}) table.add_column(title);
    for (const char* title : {"applied/steps", "final loss", "validation"})
        table.add_column(title, Table::Align::Right);
    Json list = Json::array();
    std::vector<std::string> unreadable;
    for (const RunFolder& folder : *folders) {
        const auto run = summarize_run(folder.path);
        if (!run) {
            list.push_back({{"run_dir", folder.path.string()}, {"error", describe(run.error())}});
            table.add_row({"–", folder.path.filename().string(), "–", "unreadable", "–", "–", "–"});
            unreadable.push_back("unreadable: " + run.error().message);
            continue;
        }
        list.push_back(to_json(*run));
        table.add_row({run->started_ns > 0 ? readable_time(run->started_ns) : "–",
                       folder.path.filename().string(), to_string(run->mode), state_words(run->state),
                       std::to_string(run->applied_steps) + "/" + std::to_string(run->steps),
                       run->final_loss ? readable_number(*run->final_loss, 4) : "–", metric_text(*run)});
    }
    const auto comparisons = list_comparisons(runs);
    if (options.json) {
        Json states = Json::object();
        for (const std::string& id : comparisons ? *comparisons : std::vector<std::string>{}) {
            const auto record = read_comparison(comparison_folder(runs, id));
            states[id] = record ? Json(state_text(*record)) : Json(nullptr);
        }
        print_json({{"runs_folder", runs.string()},
                    {"runs", list},
                    {"comparisons", comparisons ? Json(*comparisons) : Json::array()},
                    {"comparison_states", std::move(states)}});
        return 0;
    }
    if (folders->empty()) {
        print("no runs in " + runs.string());
        return 0;
    }
    print_table(table);
    for (const std::string& line : unreadable) print(line);
    if (comparisons)
        for (const std::string& id : *comparisons) print(comparison_line(runs, id));
    return 0;
}

struct AskedRun {
    std::filesystem::path folder;
    CheckpointAnswer before;
};

/// The runs that a command for `mode` reaches (empty: all of the job), with what they saved last.
std::vector<AskedRun> runs_asked(const std::filesystem::path& job, const std::filesystem::path& named,
                                 const std::string& mode) {
    std::vector<AskedRun> asked;
    const auto prepared = read_job(job);
    if (!prepared || prepared->kind == JobKind::SingleRun) return {{named, last_checkpoint_answer(named)}};
    for (const JobRun& run : prepared->runs) {
        const auto state = read_run_outcome(run.folder.path);
        const bool has_ended = state && is_end_state(state->state);
        if (!has_ended && (mode.empty() || mode == to_string(run.mode)))
            asked.push_back({run.folder.path, last_checkpoint_answer(run.folder.path)});
    }
    return asked;
}

int print_saved(const std::vector<AskedRun>& asked, bool json) {
    Json saved = Json::array();
    int code = 0;
    for (const AskedRun& run : asked) {
        const auto folder = wait_for_checkpoint(run.folder, run.before);
        if (!folder)
            code = fail(folder.error());
        else if (json)
            saved.push_back({{"run", run.folder.string()}, {"checkpoint", folder->string()}});
        else
            print(folder->string());
    }
    if (json) print_json({{"saved", saved}});
    return code;
}

int control_run(const RunsOptions& options) {
    const auto folder = find_run(options.run, runs_folder(options.runs_dir));
    if (!folder) return fail(folder.error());
    // A run of a comparison is named by its mode to the comparison's supervisor.
    std::string mode = options.mode;
    const auto job = job_folder_of(*folder);
    if (mode.empty() && job != *folder)
        if (const auto summary = summarize_run(*folder)) mode = to_string(summary->mode);
    const bool is_checkpoint = options.command == "checkpoint";
    const auto asked = is_checkpoint ? runs_asked(job, *folder, mode) : std::vector<AskedRun>{};
    const auto answer = send_one_command(job, options.command, mode);
    if (!answer) return fail(answer.error());
    if (is_checkpoint) return print_saved(asked, options.json);
    if (options.json)
        print_json({{"run", folder->string()}, {"command", options.command}, {"answer", *answer}});
    else
        print(*answer);
    return 0;
}

int unpack_run(const RunsOptions& options) {
    const auto run = unpack_bundle(options.run, options.into.empty() ? runs_folder(options.runs_dir) : std::filesystem::path(options.into));
    if (!run) return fail(run.error());
    if (options.json)
        print_json({{"run_dir", run->string()}});
    else
        print(run->string());
    return 0;
}

void add_common(CLI::App& verb, RunsOptions& options, bool takes_run) {
    if (takes_run)
        verb.add_option("RUN", options.run,
                        "a run folder, the name of a run or comparison (or its beginning), or last")
            ->required();
    verb.add_option("--runs-dir,--runs_dir", options.runs_dir, "folder of the runs");
    verb.add_flag("--json", options.json, "as one JSON object");
}

}  // namespace

void add_runs(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("runs", "List, show and control runs, and what they have saved");
    verb->require_subcommand(1);
    auto options = std::make_shared<RunsOptions>();

    auto* list = verb->add_subcommand("list", "All runs of the folder, newest first");
    add_common(*list, *options, false);
    list->callback([options, &result] { result = list_runs(*options); });

    auto* show = verb->add_subcommand(
        "show", "One run or comparison: result, verdicts, and where its settings came from");
    add_common(*show, *options, true);
    add_language(*show, options->language);
    show->callback([options, &result] {
        const auto named = find_run_or_bundle(options->run, runs_folder(options->runs_dir));
        result = named ? show_run(named->folder, text_language(options->language), options->json) : fail(named.error());
    });

    auto* unpack = verb->add_subcommand("unpack", "Makes a run of a bundle (.zip) that `mantissa replay RUN --bundle` or the window has written");
    unpack->add_option("BUNDLE", options->run, "the .zip file")->required();
    unpack->add_option("--into", options->into, "the folder in which the run is made (else that of the runs)");
    unpack->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    unpack->add_flag("--json", options->json, "as one JSON object");
    unpack->callback([options, &result] { result = unpack_run(*options); });

    auto* control = verb->add_subcommand("control", "Pause, resume, step, save, stop or look more closely at a run that is going on");
    add_common(*control, *options, true);
    control->add_option("COMMAND", options->command,
                        "pause, resume, step (one step, then pause), checkpoint (save now), stop (finish the step, save, end), interrupt (finish the step, "
                        "end), abort (kill at once; what is recorded stays); tensor records: watch0 (largest "
                        "values only), watch1 (every N steps, as planned), watch2 (every step)")
        ->required()
        ->check(CLI::IsMember({"pause", "resume", "step", "checkpoint", "stop", "interrupt", "abort", "watch0", "watch1", "watch2"}));
    control->add_option("--mode", options->mode, "one mode of a comparison; without it all of them");
    control->callback([options, &result] { result = control_run(*options); });

    auto* checkpoints = verb->add_subcommand("checkpoints", "The saved states of a run, newest first, and their size");
    add_common(*checkpoints, *options, true);
    checkpoints->callback([options, &result] {
        const auto folder = find_run(options->run, runs_folder(options->runs_dir));
        result = folder ? show_checkpoints(*folder, options->json) : fail(folder.error());
    });

    auto* free_states = verb->add_subcommand("delete-states", "Frees the states that incidents of a run keep for a replay");
    add_common(*free_states, *options, true);
    free_states->callback([options, &result] {
        const auto folder = find_run(options->run, runs_folder(options->runs_dir));
        result = folder ? delete_states(*folder, options->json) : fail(folder.error());
    });

    for (const char* name : {"diff", "delete"}) {
        auto* unbuilt = verb->add_subcommand(name, "")->group("Not built yet")->allow_extras();
        unbuilt->callback([name, &result] {
            result = fail({ErrorCode::NotBuilt, std::string("runs ") + name + " is not built yet",
                           "built are: runs list, runs show, runs checkpoints, runs control, runs unpack, runs delete-states"});
        });
    }
}

}  // namespace mantissa::cli
