#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "config_questions.h"
#include "machine.h"
#include "output.h"
#include "plan/accelerate_places.h"
#include "plan/accelerate_update.h"
#include "plan/plan_sources.h"
#include "plan_origins.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct ConfigOptions {
    std::string file, mode = "no";
    bool json = false;
};

/// The file that is named, else the default one that is there; empty: none.
fs::path existing_file(const ConfigOptions& options) {
    if (!options.file.empty()) return options.file;
    return default_accelerate_config_file(process_environment());
}

int show(const ConfigOptions& options) {
    const fs::path file = existing_file(options);
    const auto layers = machine_layers(file.empty() ? std::nullopt : std::optional<fs::path>(file));
    if (!layers) return fail(layers.error());
    const auto plan = merge_plan(*layers, PlanUse::Train);
    if (!plan) return fail(plan.error());
    if (options.json) {
        nlohmann::json shown = sources_json(*plan);
        shown["file"] = file.empty() ? Json(nullptr) : Json(file.string());
        print_json(shown);
        return 0;
    }
    if (file.empty())
        print("No configuration in " + accelerate_config_folder(process_environment()).string() +
              ": `mantissa config default` writes one");
    else
        print("Accelerate's configuration: " + file.string());
    print_sources(*plan);
    return 0;
}

void print_file(const ConfigOptions& options, const fs::path& file, const std::vector<std::string>& changes) {
    if (options.json)
        print_json({{"file", file.string()}, {"changes", changes}});
    else
        print(file.string());
}

int write_default(const ConfigOptions& options) {
    const fs::path there = existing_file(options);
    std::error_code ignored;
    if (!there.empty() && fs::exists(fs::symlink_status(there, ignored)))
        return fail({ErrorCode::Usage, there.string() + " is there already; it is not overwritten",
                     "`mantissa config update` brings it up to date; --config_file names another"});
    const fs::path file =
        there.empty() ? accelerate_config_folder(process_environment()) / "default_config.yaml" : there;
    const auto mode = parse_precision(options.mode);
    if (!mode) return fail({ErrorCode::Usage, "\"" + options.mode + "\" is no precision mode", ""});
    if (file.has_parent_path())
        if (auto made = make_folders(file.parent_path()); !made) return fail(made.error());
    if (auto written = write_file_atomically(file, default_accelerate_config(*mode, file.string())); !written)
        return fail(written.error());
    print_file(options, file, {});
    return 0;
}

int update_file(const ConfigOptions& options, const fs::path& file,
                const std::vector<std::pair<std::string, std::string>>& values) {
    const auto text = read_file(file, 1u << 20);
    if (!text) return fail(text.error());
    const auto updated = update_accelerate_config(*text, file.string(), values);
    if (!updated) return fail(updated.error());
    if (updated->text != *text) {
        // A link stays a link, and the file keeps its permissions.
        std::error_code ignored;
        const fs::path real = fs::canonical(file, ignored);
        const auto permissions = fs::status(real, ignored).permissions();
        if (auto written = write_file_atomically(real, updated->text); !written) return fail(written.error());
        fs::permissions(real, permissions, ignored);
    }
    print_file(options, file, updated->changes);
    if (options.json) return 0;
    for (const std::string& change : updated->changes) print("  " + change);
    if (updated->changes.empty()) print("  nothing to change");
    return 0;
}

int update(const ConfigOptions& options) {
    const fs::path file = existing_file(options);
    if (file.empty())
        return fail(
            {ErrorCode::InputOutput,
             "there is no configuration in " + accelerate_config_folder(process_environment()).string(),
             "`mantissa config default` writes one"});
    return update_file(options, file, {});
}

/// Questions and answers; an existing file keeps all that isn't asked.
int interview(const ConfigOptions& options) {
    fs::path file = existing_file(options);
    std::error_code ignored;
    const bool is_new = file.empty() || !fs::exists(file, ignored);
    if (file.empty()) file = accelerate_config_folder(process_environment()) / "default_config.yaml";
    std::string text = default_accelerate_config(Precision::No, file.string());
    if (!is_new) {
        const auto read = read_file(file, 1u << 20);
        if (!read) return fail(read.error());
        text = *read;
    }
    const auto present = accelerate_config_text(text, file.string());
    if (!present && present.error().code != ErrorCode::NotBuilt) return fail(present.error());
    const auto answers = ask_for_configuration(present ? *present : PlanLayer{ValueSource::Config, {}, {}});
    if (!answers) return fail(answers.error());
    if (is_new) {
        if (auto made = make_folders(file.parent_path()); !made) return fail(made.error());
        if (auto written = write_file_atomically(file, text); !written) return fail(written.error());
    }
    return update_file(options, file, *answers);
}

}  // namespace

void add_config(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("config", "Show, write and update Accelerate's configuration file");
    verb->require_subcommand(0, 1);
    verb->footer(
        "The file is default_config.yaml in $HF_HOME/accelerate, else in\n"
        "${XDG_CACHE_HOME:-~/.cache}/huggingface/accelerate; --config_file names another (.json is JSON).\n"
        "Without one of them it asks: precision, CPU or GPU; what isn't asked stays as it is.");
    auto options = std::make_shared<ConfigOptions>();
    const auto add_common = [&options](CLI::App& sub) {
        sub.add_option("--config_file,--config-file", options->file, "this file instead of the default one");
        sub.add_flag("--json", options->json, "as one JSON object");
    };
    auto* shown = verb->add_subcommand(
        "show", "The file in use, its values with ACCELERATE_* over them, and what was overruled");
    add_common(*shown);
    shown->callback([options, &result] { result = show(*options); });
    auto* written = verb->add_subcommand("default", "Write a minimal file; an existing one is never touched");
    add_common(*written);
    written->add_option("--mixed_precision,--mixed-precision", options->mode, "no (default), fp16, bf16, fp8")
        ->check(CLI::IsMember({"no", "fp16", "bf16", "fp8"}, CLI::ignore_case));
    written->callback([options, &result] { result = write_default(*options); });
    auto* updated = verb->add_subcommand(
        "update", "Bring old and bare spellings to the current form; all else stays, comments too");
    add_common(*updated);
    updated->callback([options, &result] { result = update(*options); });
    verb->add_option("--config_file,--config-file", options->file, "this file instead of the default one");
    verb->callback([verb, options, &result] {
        if (verb->get_subcommands().empty()) result = interview(*options);
    });
}

}  // namespace mantissa::cli
