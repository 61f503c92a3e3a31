#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/paths.h"
#include "launch/run_lookup.h"
#include "output.h"
#include "plan/nearest.h"
#include "record/export_comparison.h"
#include "run_argument.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
    std::string run, format, output = "-", runs_dir;
    bool force = false;
};

ExportFormat chosen_format(const ExportOptions& options) {
    const bool json = options.format.empty() ? options.output.ends_with(".json") : options.format == "json";
    return json ? ExportFormat::Json : ExportFormat::Csv;
}

Result<void> write_job(const fs::path& folder, ExportFormat format, std::ostream& out) {
    std::error_code ignored;
    if (!fs::exists(folder / "comparison.json", ignored)) return export_steps(folder, format, out);
    const auto comparison = read_comparison(folder);
    if (!comparison) return comparison.error();
    const auto missing = export_comparison(*comparison, format, out);
    if (!missing) return missing.error();
    if (!missing->empty()) std::cerr << "no recording of " << join_names(*missing) << "\n";
    return {};
}

int write_to_standard_output(const fs::path& folder, ExportFormat format) {
    const auto written = write_job(folder, format, std::cout);
    if (!std::cout) {
        std::clearerr(stdout);  // it is said here
        return fail({ErrorCode::InputOutput, "the export can't be written to standard output",
                     "is the disk full, or its reader gone?"});
    }
    return written ? 0 : fail(written.error());
}

int export_run(const ExportOptions& options) {
    const auto folder = find_run(options.run, runs_folder(options.runs_dir));
    if (!folder) return fail(folder.error());
    const ExportFormat format = chosen_format(options);
    if (has_supervisor(*folder)) std::cerr << "it is running now: the steps so far are exported\n";
    if (options.output == "-") return write_to_standard_output(*folder, format);
    std::error_code ignored;
    if (!options.force && fs::exists(fs::symlink_status(options.output, ignored)))
        return fail({ErrorCode::Usage, options.output + " is there already",
                     "name another file, or overwrite it with --force"});
    const auto written = export_to_file(
        options.output, [&folder, format](std::ostream& out) { return write_job(*folder, format, out); });
    if (!written) return fail(written.error());
    print(options.output);
    return 0;
}

}  // namespace

void add_export(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "export", "Every recorded step of a run or comparison as CSV or JSON, raw, never thinned out");
    auto options = std::make_shared<ExportOptions>();
    verb->add_option("RUN", options->run,
                     "a run folder, the name of a run or comparison (or its beginning), or last")
        ->required();
    verb->add_option("--format", options->format, "csv, json (else by the name of the file, else csv)")
        ->check(CLI::IsMember({"csv", "json"}));
    verb->add_option("-o,--output", options->output, "file to write, - is standard output")
        ->capture_default_str();
    verb->add_flag("-f,--force", options->force, "overwrite the file");
    verb->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    verb->footer(
        "A comparison becomes one file: a first column \"mode\" in CSV, one object per run in JSON.\n"
        "CSV: nan, inf, -inf; a value that was not measured is empty. JSON: \"NaN\", \"+Inf\", \"-Inf\", "
        "null.\n"
        "Times are nanoseconds, memory is bytes.");
    verb->callback([options, &result] { result = export_run(*options); });
}

}  // namespace mantissa::cli
