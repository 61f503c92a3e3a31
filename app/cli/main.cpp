// mantissa: command line and worker. No Qt, no torch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "base/log.h"
#include "base/version.h"
#include "output.h"
#include "plan/nearest.h"
#include "verbs.h"

namespace {

std::vector<std::string> verb_names(const CLI::App& parent) {
    std::vector<std::string> names;
    for (const auto* known : parent.get_subcommands({}))
        if (!known->get_group().empty()) names.push_back(known->get_name());
    return names;
}

int no_such_verb(const std::string& written, const std::string& name, const std::vector<std::string>& names,
                 const std::string& help) {
    const auto near = mantissa::nearest_names(name, names);
    return mantissa::cli::fail({mantissa::ErrorCode::Usage, "there is no verb \"" + written + "\"",
                                near.empty() ? help : "did you mean " + mantissa::join_names(near) + "?"});
}

/// CLI11's own sentence, with the nearest verb when a verb is what is wrong. Help and version are results,
/// not errors.
int usage_error(const CLI::App& program, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) return program.exit(error);
    std::string hint = "mantissa --help";
    if (argc > 1 && argv[1][0] != '-') {
        const std::string name = argv[1];
        const auto names = verb_names(program);
        if (std::find(names.begin(), names.end(), name) == names.end())
            return no_such_verb(name, name, names, hint);
        hint = "mantissa " + name + " --help";
        const auto inner = verb_names(*program.get_subcommand(name));
        if (argc > 2 && argv[2][0] != '-' && !inner.empty() &&
            std::find(inner.begin(), inner.end(), argv[2]) == inner.end())
            return no_such_verb(name + " " + argv[2], argv[2], inner, hint);
    }
    return mantissa::cli::fail({mantissa::ErrorCode::Usage, error.what(), hint});
}

/// ACCELERATE_LOG_LEVEL, in Python's words. Workers inherit it.
bool set_log_level() {
    using mantissa::log::Level;
    const char* value = std::getenv("ACCELERATE_LOG_LEVEL");
    if (value == nullptr || *value == '\0') return true;
    std::string name = value;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::pair<const char*, Level> levels[] = {{"NOTSET", Level::Debug}, {"DEBUG", Level::Debug}, {"INFO", Level::Info},
                                                    {"WARNING", Level::Warning}, {"ERROR", Level::Error}, {"CRITICAL", Level::Error}};
    for (const auto& [known, level] : levels) {
        if (name != known) continue;
        mantissa::log::set_level(level);
        return true;
    }
    mantissa::cli::fail({mantissa::ErrorCode::Usage, "ACCELERATE_LOG_LEVEL is \"" + std::string(value).substr(0, 60) + "\"",
                         "use debug, info, warning, error or critical"});
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    mantissa::cli::open_missing_descriptors();
    std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the write that met it, for every verb
    if (!set_log_level()) return 2;
    CLI::App program("Mantissa: mixed-precision training, compared and explained", "mantissa");
    program.require_subcommand(1);
    program.set_version_flag("--version", std::string("mantissa ") + mantissa::version);
    program.footer("Start here: mantissa compare digits-cnn");
    int result = 0;
    using namespace mantissa::cli;
    add_compare(program, result);
    add_train(program, result);
    add_launch(program, result);
    add_probe(program, result);
    add_env(program, result);
    add_config(program, result);
    add_test(program, result);
    add_estimate_memory(program, result);
    add_models(program, result);
    add_datasets(program, result);
    add_replay(program, result);
    add_runs(program, result);
    add_report(program, result);
    add_export(program, result);
    add_lessons(program, result);
    add_lesson(program, result);
    add_process_verbs(program, result);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return finish_output(usage_error(program, error, argc, argv));
    } catch (const std::exception& error) {
        return finish_output(
            fail({mantissa::ErrorCode::Internal, std::string("unexpected: ") + error.what(), ""}));
    }
    return finish_output(result);
}
