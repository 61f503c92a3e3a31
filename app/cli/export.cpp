#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/paths.h"
#include "launch/run_lookup.h"
#include "output.h"
#include "plan/nearest.h"
#include "record/export_rows.h"
#include "record/rank_views.h"
#include "run_argument.h"
#include "runs_checkpoints.h"
#include "track/export_tensorboard.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
    std::string run, format, output = "-", runs_dir, what = "steps", tensorboard, weights;
    std::optional<std::int64_t> checkpoint, rank;
    bool force = false;
};

ExportFormat chosen_format(const ExportOptions& options) {
    const bool json = options.format.empty() ? options.output.ends_with(".json") : options.format == "json";
    return json ? ExportFormat::Json : ExportFormat::Csv;
}

ExportTable chosen_table(const ExportOptions& options) {
    if (options.what == "micro_batches") return ExportTable::MicroBatches;
    if (options.what == "tensors") return ExportTable::Tensors;
    return options.what == "evaluations" ? ExportTable::Evaluations : ExportTable::Steps;
}

bool is_comparison(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / "comparison.json", ignored);
}

Result<void> say_missing(const Result<std::vector<std::string>>& missing) {
    if (!missing) return missing.error();
    if (!missing->empty()) std::cerr << "no recording of " << join_names(*missing) << "\n";
    return {};
}

Result<void> write_job(const fs::path& folder, ExportTable table, ExportFormat format, std::ostream& out, std::int64_t rank) {
    if (!is_comparison(folder)) return export_table(folder, table, format, out, rank);
    const auto comparison = read_comparison(folder);
    if (!comparison) return comparison.error();
    return say_missing(export_comparison_table(*comparison, table, format, out));
}

int write_tensorboard(const fs::path& folder, const std::string& target) {
    Result<void> written;
    if (is_comparison(folder)) {
        const auto comparison = read_comparison(folder);
        if (!comparison) return fail(comparison.error());
        written = say_missing(export_tensorboard(*comparison, target));
    } else {
        written = export_tensorboard(folder, target);
    }
    if (!written) return fail(written.error());
    print(target);
    return 0;
}

int write_to_standard_output(const fs::path& folder, ExportTable table, ExportFormat format, std::int64_t rank) {
    const auto written = write_job(folder, table, format, std::cout, rank);
    if (!std::cout) {
        std::clearerr(stdout);  // it is said here
        return fail({ErrorCode::InputOutput, "the export can't be written to standard output",
                     "is the disk full, or its reader gone?"});
    }
    return written ? 0 : fail(written.error());
}

/// A file that is there is somebody's.
Result<void> refuse_to_overwrite(const std::string& file, bool force) {
    std::error_code ignored;
    if (force || !fs::exists(fs::symlink_status(file, ignored))) return {};
    return Error{ErrorCode::Usage, file + " is there already", "name another file, or overwrite it with --force"};
}

Result<void> refuse_missing_rank(const fs::path& folder, std::int64_t rank) {
    if (is_comparison(folder)) return Error{ErrorCode::Usage, "--rank belongs to one run, and " + folder.filename().string() + " is a comparison",
                                            "name one of its runs"};
    const auto ranks = recorded_ranks(folder);
    if (rank == 0 || std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return {};
    return Error{ErrorCode::Usage, folder.filename().string() + " has no record of rank " + std::to_string(rank),
                 ranks.empty() ? "it was trained by one process" : "the last one is " + std::to_string(ranks.back())};
}

int export_run(const ExportOptions& options) {
    const auto named = find_run_or_bundle(options.run, runs_folder(options.runs_dir));
    if (!named) return fail(named.error());
    const fs::path* folder = &named->folder;
    if (!options.weights.empty()) {
        if (const auto free = refuse_to_overwrite(options.weights, options.force); !free) return fail(free.error());
        const auto copied = export_weights(*folder, options.checkpoint, options.weights);
        if (!copied) return fail(copied.error());
        print(options.weights);
        return 0;
    }
    const ExportFormat format = chosen_format(options);
    if (has_supervisor(*folder)) std::cerr << "it is running now: the steps so far are exported\n";
    if (!options.tensorboard.empty()) return write_tensorboard(*folder, options.tensorboard);
    const ExportTable table = chosen_table(options);
    const std::int64_t rank = options.rank.value_or(0);
    if (options.rank)
        if (const auto there = refuse_missing_rank(*folder, rank); !there) return fail(there.error());
    if (options.output == "-") return write_to_standard_output(*folder, table, format, rank);
    if (const auto free = refuse_to_overwrite(options.output, options.force); !free) return fail(free.error());
    const auto written = export_to_file(
        options.output,
        [&folder, table, format, rank](std::ostream& out) { return write_job(*folder, table, format, out, rank); });
    if (!written) return fail(written.error());
    print(options.output);
    return 0;
}

}  // namespace

void add_export(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand(
        "export",
        "Every recorded step of a run or comparison as CSV, JSON or for TensorBoard, raw, never thinned out; or a run's weights");
    auto options = std::make_shared<ExportOptions>();
    verb->add_option("RUN", options->run,
                     "a run folder, the name of a run or comparison (or its beginning), or last")
        ->required();
    verb->add_option("--format", options->format, "csv, json (else by the name of the file, else csv)")
        ->check(CLI::IsMember({"csv", "json"}));
    verb->add_option("--what", options->what, "steps, micro_batches (their losses), evaluations or tensors (their records)")
        ->check(CLI::IsMember({"steps", "micro_batches", "evaluations", "tensors"}))
        ->capture_default_str();
    auto* board = verb->add_option("--tensorboard", options->tensorboard,
                                   "a new folder for TensorBoard's event files: all of it, one curve a column");
    verb->add_option("--rank", options->rank, "of a run of several processes: what this one recorded; 0 (default) is the run's own record")
        ->check(CLI::NonNegativeNumber);
    for (const char* other : {"--format", "--what", "--rank"}) board->excludes(verb->get_option(other));
    verb->add_option("-o,--output", options->output, "file to write, - is standard output")
        ->capture_default_str();
    board->excludes(verb->get_option("--output"));
    auto* weights = verb->add_option("--weights", options->weights,
                                     "the saved weights instead, as a safetensors file with this name");
    for (const char* other : {"--format", "--what", "--tensorboard", "--output"}) weights->excludes(verb->get_option(other));
    verb->add_option("--checkpoint", options->checkpoint, "with --weights: the number of the checkpoint, else the newest")
        ->needs(weights);
    verb->add_flag("-f,--force", options->force, "overwrite the file");
    verb->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    verb->footer(
        "A comparison becomes one file: a first column \"mode\" in CSV, one object per run in JSON.\n"
        "CSV: nan, inf, -inf; a value that was not measured is empty. JSON: \"NaN\", \"+Inf\", \"-Inf\", "
        "null.\n"
        "TensorBoard: a comparison becomes one sub-folder per mode; NaN and Inf are kept; skip_kind is 0 none, 1 probing, "
        "2 fault.\n"
        "Times are nanoseconds, memory is bytes.");
    verb->callback([options, &result] { result = export_run(*options); });
}

}  // namespace mantissa::cli
