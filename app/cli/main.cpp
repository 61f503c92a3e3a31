// mantissa: command line and worker. No Qt, no torch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>

#include "base/version.h"
#include "output.h"
#include "plan/nearest.h"
#include "verbs.h"

namespace {

/// CLI11's own sentence, with the nearest verb when a verb is what is wrong. Help and version are results,
/// not errors.
int usage_error(const CLI::App& program, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) return program.exit(error);
    std::string hint = "mantissa --help";
    if (argc > 1 && argv[1][0] != '-') {
        std::vector<std::string> names;
        for (const auto* known : program.get_subcommands({}))
            if (!known->get_group().empty()) names.push_back(known->get_name());
        if (std::find(names.begin(), names.end(), argv[1]) != names.end()) {
            hint = std::string("mantissa ") + argv[1] + " --help";
        } else {
            const auto near = mantissa::nearest_names(argv[1], names);
            return mantissa::cli::fail(
                {mantissa::ErrorCode::Usage, std::string("there is no verb \"") + argv[1] + "\"",
                 near.empty() ? hint : "did you mean " + mantissa::join_names(near) + "?"});
        }
    }
    return mantissa::cli::fail({mantissa::ErrorCode::Usage, error.what(), hint});
}

}  // namespace

int main(int argc, char** argv) {
    mantissa::cli::open_missing_descriptors();
    std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the write that met it, for every verb
    CLI::App program("Mantissa: mixed-precision training, compared and explained", "mantissa");
    program.require_subcommand(1);
    program.set_version_flag("--version", std::string("mantissa ") + mantissa::version);
    program.footer("Start here: mantissa compare digits-cnn");
    int result = 0;
    using namespace mantissa::cli;
    add_compare(program, result);
    add_train(program, result);
    add_probe(program, result);
    add_env(program, result);
    add_config(program, result);
    add_estimate_memory(program, result);
    add_models(program, result);
    add_datasets(program, result);
    add_runs(program, result);
    add_report(program, result);
    add_export(program, result);
    add_unbuilt_verbs(program, result);
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
