#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "judge/texts.h"
#include "launch/control_client.h"
#include "launch/run_lookup.h"
#include "output.h"
#include "record/comparison_record.h"
#include "record/run_folder.h"
#include "record/run_summary.h"
#include "results.h"
#include "run_argument.h"
#include "runs_show.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

struct RunsOptions {
    std::string runs_dir, run, command, mode, language;
    bool json = false;
};

std::string comparison_line(const std::filesystem::path& runs, const std::string& id) {
    const auto record = read_comparison(comparison_folder(runs, id));
    return "comparison " + id + (record ? "" : " (unreadable: " + record.error().message + ")");
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
                       folder.path.filename().string(), to_string(run->mode), to_string(run->state),
                       std::to_string(run->applied_steps) + "/" + std::to_string(run->steps),
                       run->final_loss ? readable_number(*run->final_loss, 4) : "–", metric_text(*run)});
    }
    const auto comparisons = list_comparisons(runs);
    if (options.json) {
        print_json({{"runs_folder", runs.string()},
                    {"runs", list},
                    {"comparisons", comparisons ? Json(*comparisons) : Json::array()}});
        return 0;
    }
    if (folders->empty()) {
        print("no runs in " + runs.string());
        return 0;
    }
    std::string text = table.text();
    text.pop_back();
    print(text);
    for (const std::string& line : unreadable) print(line);
    if (comparisons)
        for (const std::string& id : *comparisons) print(comparison_line(runs, id));
    return 0;
}

int control_run(const RunsOptions& options) {
    const auto folder = find_run(options.run, runs_folder(options.runs_dir));
    if (!folder) return fail(folder.error());
    // A run of a comparison is named by its mode to the comparison's supervisor.
    std::string mode = options.mode;
    const auto job = job_folder_of(*folder);
    if (mode.empty() && job != *folder)
        if (const auto summary = summarize_run(*folder)) mode = to_string(summary->mode);
    const auto answer = send_one_command(job, options.command, mode);
    if (!answer) return fail(answer.error());
    if (options.json)
        print_json({{"run", folder->string()}, {"command", options.command}, {"answer", *answer}});
    else
        print(*answer);
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
    auto* verb = program.add_subcommand("runs", "List, show and control runs");
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
        const auto folder = find_run(options->run, runs_folder(options->runs_dir));
        result = folder ? show_run(*folder, text_language(options->language), options->json)
                        : fail(folder.error());
    });

    auto* control = verb->add_subcommand("control", "Pause, resume, step or stop a run that is going on");
    add_common(*control, *options, true);
    control->add_option("COMMAND", options->command, "pause, resume, step (one step, then pause), stop")
        ->required()
        ->check(CLI::IsMember({"pause", "resume", "step", "stop"}));
    control->add_option("--mode", options->mode, "one mode of a comparison; without it all of them");
    control->callback([options, &result] { result = control_run(*options); });

    for (const char* name : {"diff", "delete"}) {
        auto* unbuilt = verb->add_subcommand(name, "")->group("Not built yet")->allow_extras();
        unbuilt->callback([name, &result] {
            result = fail({ErrorCode::NotBuilt, std::string("runs ") + name + " is not built yet",
                           "built are: runs list, runs show, runs control"});
        });
    }
}

}  // namespace mantissa::cli
