#include "run_argument.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "judge/texts.h"
#include "launch/bundle.h"
#include "launch/run_lookup.h"
#include "plan/nearest.h"
#include "record/comparison_record.h"
#include "record/run_folder.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

bool is_recording(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / "plan.json", ignored) || fs::exists(folder / "comparison.json", ignored) ||
           fs::exists(folder / "run.db", ignored);
}

/// Comparisons and single runs, newest first; the runs of comparisons come after them.
Result<std::vector<fs::path>> all_folders(const fs::path& runs) {
    std::vector<fs::path> folders;
    const auto comparisons = list_comparisons(runs);
    if (!comparisons) return comparisons.error();
    for (const std::string& id : *comparisons) folders.push_back(comparison_folder(runs, id));
    const auto singles = list_run_folders(runs);
    if (!singles) return singles.error();
    for (const RunFolder& folder : *singles) folders.push_back(folder.path);
    // Names begin with the time, so the newest name is the newest folder; a comparison is made after its
    // runs' names.
    std::stable_sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
        return a.filename().string().substr(0, 15) > b.filename().string().substr(0, 15);
    });
    return folders;
}

/// An empty sentence is a yes, as CLI11 wants it. zh_CN means zh.
std::string refuse_language(const std::string& asked) {
    const std::string stem = asked.substr(0, asked.find_first_of("_-.@"));
    const auto& known = text_languages();
    if (asked.empty() || std::find(known.begin(), known.end(), stem) != known.end()) return "";
    return "there are no texts in \"" + asked.substr(0, 40) + "\"; use " + join_names(known);
}

}  // namespace

void add_language(CLI::App& verb, std::string& language) {
    verb.add_option(
            "--lang", language,
            "language of verdicts and report: " + join_names(text_languages()) + " (else that of the locale)")
        ->check(CLI::Validator(refuse_language, ""));
}

Result<fs::path> find_run(const std::string& argument, const fs::path& runs) {
    if (argument.empty())
        return Error{ErrorCode::Usage, "RUN is empty", "name a run of `mantissa runs list`, or last"};
    std::error_code ignored;
    if (fs::is_directory(argument, ignored) && is_recording(argument))
        return fs::absolute(argument, ignored).lexically_normal();
    const auto folders = all_folders(runs);
    if (!folders) return folders.error();
    if (argument == "last") {
        // The clock may have gone on by a second while a comparison's folders were made.
        if (!folders->empty()) return job_folder_of(folders->front());
        return Error{ErrorCode::InputOutput, "there is no run in " + runs.string() + " yet",
                     "start one: mantissa compare digits-cnn"};
    }
    std::vector<fs::path> fitting;
    std::vector<std::string> names;
    for (const fs::path& folder : *folders) {
        const std::string name = folder.filename().string();
        names.push_back(name);
        if (name == argument) return folder;
        if (name.starts_with(argument)) fitting.push_back(folder);
    }
    if (fitting.size() == 1) return fitting.front();
    if (fitting.size() > 1)
        return Error{
            ErrorCode::Usage, "\"" + argument + "\" fits " + std::to_string(fitting.size()) + " runs",
            "for example " + fitting[0].filename().string() + " or " + fitting[1].filename().string()};
    const auto near = nearest_names(argument, names);
    return Error{
        ErrorCode::InputOutput, "there is no run \"" + argument.substr(0, 200) + "\" in " + runs.string(),
        near.empty() ? "`mantissa runs list` shows what is there" : "did you mean " + join_names(near) + "?"};
}

Result<NamedRun> find_run_or_bundle(const std::string& argument, const fs::path& runs) {
    NamedRun named;
    std::error_code ignored;
    const bool is_file = fs::is_regular_file(argument, ignored);
    if (!looks_like_bundle(argument) && !(is_file && argument.ends_with(".zip"))) {
        auto folder = find_run(argument, runs);
        if (!folder) return folder.error();
        named.folder = std::move(*folder);
        return named;
    }
    auto place = WorkFolder::make("bundle");
    if (!place) return place.error();
    auto folder = unpack_bundle(argument, place->path());
    if (!folder) return folder.error();
    named.folder = std::move(*folder);
    named.unpacked = std::move(*place);
    return named;
}

}  // namespace mantissa::cli
