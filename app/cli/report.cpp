#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/paths.h"
#include "judge/html_report.h"
#include "judge/texts.h"
#include "lessons/player.h"
#include "output.h"
#include "run_argument.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

struct ReportOptions {
    std::string run, output, language, runs_dir;
    bool json = false, player = false;
};

int write_report(const ReportOptions& options) {
    // The folder of a lesson holds no recording of its own, so it isn't looked for among the runs.
    std::error_code ignored;
    const bool is_lesson = std::filesystem::exists(std::filesystem::path(options.run) / "lesson.json", ignored);
    if (is_lesson && !options.player)
        return fail({ErrorCode::Usage, options.run + " is a lesson: it can be played, its runs have reports of their own", "mantissa report " + options.run + " --player"});
    const auto folder = is_lesson ? Result<std::filesystem::path>(options.run) : find_run(options.run, runs_folder(options.runs_dir));
    if (!folder) return fail(folder.error());
    const std::string language = text_language(options.language);
    const auto report = options.player ? write_player(*folder, language, options.output) : write_html_report(*folder, language, options.output);
    if (!report) return fail(report.error());
    if (options.json)
        print_json({{options.player ? "player" : "report", report->string()}});
    else
        print(report->string());
    return 0;
}

}  // namespace

void add_report(CLI::App& program, int& result) {
    auto* verb =
        program.add_subcommand("report", "Write the HTML report of a run or comparison and print its path");
    auto options = std::make_shared<ReportOptions>();
    verb->add_option("RUN", options->run,
                     "a run folder, the name of a run or comparison (or its beginning), or last")
        ->required();
    verb->add_option("-o,--output", options->output, "file to write (else report.html or player.html in the folder)");
    add_language(*verb, options->language);
    verb->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    verb->add_flag("--player", options->player, "a page that plays the recording; also of the folder of a lesson");
    verb->add_flag("--json", options->json, "as one JSON object");
    verb->callback([options, &result] { result = write_report(*options); });
}

}  // namespace mantissa::cli
