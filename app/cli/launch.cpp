// `mantissa launch`: Accelerate's launcher. A plan or preset is trained as `train` does it; any other target is a
// program, which finds its settings in ACCELERATE_* as under `accelerate launch`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "launch/supervisor.h"
#include "launch_flags.h"
#include "machine.h"
#include "output.h"
#include "plan/nearest.h"
#include "plan/presets.h"
#include "program_ranks.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

bool is_plan(const std::string& target) {
    if (target.ends_with(".json")) return true;
    if (target.find('/') != std::string::npos) return false;
    const auto presets = list_presets();
    return presets && std::any_of(presets->begin(), presets->end(), [&](const Preset& preset) { return preset.id == target; });
}

Result<SourcedPlan> settings_of(const LaunchFlags& flags, AcceleratePlaces& places) {
    auto layer = flags.layer();
    if (!layer) return layer.error();
    auto layers = machine_layers(flags.config_file.empty() ? std::nullopt : std::optional<fs::path>(flags.config_file), places);
    if (!layers) return layers.error();
    layers->push_back(std::move(*layer));
    return resolve_plan(*layers, PlanUse::Train);
}

/// Where 1.15 decides otherwise: its launcher doesn't read the shell's variable.
std::string word_on_upstream(const SourcedPlan& plan) {
    const auto found = plan.origins.find("mixed_precision");
    if (found == plan.origins.end() || found->second.source != ValueSource::Environment) return "";
    std::string theirs = "no";
    for (const OverruledValue& lost : found->second.overruled)
        if (lost.source == ValueSource::Config) theirs = lost.value;
    if (theirs == found->second.value) return "";
    return "accelerate launch 1.15 doesn't read ACCELERATE_MIXED_PRECISION of the shell: it would train in " + theirs;
}

void say_settings(const SourcedPlan& plan) {
    const auto say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
    for (const char* path : {"mixed_precision", "device", "training.gradient_accumulation_steps", "launch.threads"}) {
        const auto found = plan.origins.find(path);
        if (found != plan.origins.end())
            say(std::string(path) + " " + found->second.value + " (" + describe_source(found->second.source, found->second.detail) + ")");
    }
    for (const std::string& line : plan.overruled_lines()) say(line);
    if (const std::string word = word_on_upstream(plan); !word.empty()) say("note: " + word);
    for (const std::string& note : plan.notes) say("note: " + note);
}

void hand_over_environment(const SourcedPlan& plan, const LaunchFlags& flags, const std::optional<std::string>& gpus) {
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
    set("ACCELERATE_MIXED_PRECISION", to_string(plan.plan.mixed_precision));
    set("ACCELERATE_USE_CPU", plan.plan.device == "cpu" ? "true" : "false");
    if (plan.plan.device == "auto")
        ::unsetenv("ACCELERATE_TORCH_DEVICE");
    else
        set("ACCELERATE_TORCH_DEVICE", plan.plan.device);
    set("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", std::to_string(plan.plan.training.gradient_accumulation_steps));
    // Several processes with a thread for every processor would only wait for each other.
    if (plan.origins.contains("launch.threads") || (plan.plan.launch.processes > 1 && std::getenv("OMP_NUM_THREADS") == nullptr))
        set("OMP_NUM_THREADS", std::to_string(plan.plan.launch.threads));
    if (flags.debug) set("ACCELERATE_DEBUG_MODE", "1");
    if (gpus) set("CUDA_VISIBLE_DEVICES", *gpus);
}

int start_program(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    ::execvp(arguments.front(), arguments.data());
    const int reason = errno;
    std::string hint = "name a program, a plan file or a preset";
    if (const auto presets = list_presets(); presets) {
        std::vector<std::string> names;
        for (const Preset& preset : *presets) names.push_back(preset.id);
        const auto near = nearest_names(command.front(), names, 1);
        if (!near.empty()) hint = "did you mean the preset " + near.front() + "?";
    }
    return fail({ErrorCode::Usage, "can't start " + command.front() + ": " + std::strerror(reason), hint});
}

int train(const LaunchFlags& flags, const std::vector<std::string>& command) {
    std::vector<std::string> arguments = {"train"};
    const auto given = flags.for_train();
    arguments.insert(arguments.end(), given.begin(), given.end());
    arguments.insert(arguments.end(), command.begin(), command.end());
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    CLI::App program("", "mantissa");
    int result = 0;
    add_train(program, result);
    try {
        program.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return program.exit(error);
        return fail({ErrorCode::Usage, error.what(), "behind the plan come flags of `mantissa train`"});
    }
    return result;
}

std::string told(const ProgramRanks& ranks) {
    return std::to_string(ranks.processes) + " processes" +
           (ranks.machines > 1 ? " on " + std::to_string(ranks.machines) + " machines, ranks " + std::to_string(ranks.machine_rank * ranks.here()) +
                                     " to " + std::to_string((ranks.machine_rank + 1) * ranks.here() - 1) + " here"
                               : std::string()) +
           ", met at " + ranks.host + ":" + std::to_string(ranks.port);
}

int run_told(const std::vector<std::string>& command, ProgramRanks ranks, bool quiet) {
    if (const auto settled = settle_port(ranks); !settled) return fail(settled.error());
    if (!quiet) std::fprintf(stderr, "%s\n", told(ranks).c_str());
    return run_ranks(command, ranks, quiet);
}

/// On one machine `train` starts the processes itself, and its supervisor looks after them; on several each is a `train` that joins.
int launch_plan(const LaunchFlags& flags, const std::vector<std::string>& command, const ProgramRanks& ranks,
                const std::optional<std::string>& gpus) {
    const auto layer = flags.layer();  // `train` says the rest
    if (!layer) return fail(layer.error());
    if (!flags.quiet) {
        for (const std::string& note : layer->notes) std::fprintf(stderr, "note: %s\n", note.c_str());
        if (ranks.machines == 1)
            for (const std::string& note : flags.notes_for_one_process()) std::fprintf(stderr, "note: %s\n", note.c_str());
    }
    if (gpus) ::setenv("CUDA_VISIBLE_DEVICES", gpus->c_str(), 1);
    if (ranks.machines == 1) return train(flags, command);
    std::vector<std::string> arguments{mantissa_program().string(), "train"};
    for (std::string& one : flags.for_train(false)) arguments.push_back(std::move(one));
    arguments.insert(arguments.end(), command.begin(), command.end());
    return run_told(arguments, ranks, flags.quiet);
}

int launch(const LaunchFlags& flags, const CLI::App& verb) {
    const std::vector<std::string> command = verb.remaining();
    if (command.empty())
        return fail({ErrorCode::Usage, "launch needs a target", "name a program, a plan file or a preset"});
    if (command.front().starts_with("-")) return fail(unknown_launch_flag(command.front(), verb));
    if (command.front().ends_with(".py"))
        return fail({ErrorCode::Usage, command.front() + " is a Python script",
                     "start Python yourself: mantissa launch … python3 " + command.front()});
    AcceleratePlaces places;
    const auto plan = settings_of(flags, places);
    if (!plan) return fail(plan.error());
    const auto known_gpus = places.values.find("gpu_ids");
    const auto gpus = flags.visible_gpus(known_gpus == places.values.end() ? std::nullopt : std::optional(known_gpus->second));
    if (!gpus) return fail(gpus.error());
    const auto ranks = program_ranks(flags, places, plan->plan.launch.processes);
    if (!ranks) return fail(ranks.error());
    if (is_plan(command.front())) return launch_plan(flags, command, *ranks, *gpus);
    if (!flags.quiet) say_settings(*plan);
    hand_over_environment(*plan, flags, *gpus);
    if (ranks->processes > 1) return run_told(command, *ranks, flags.quiet);
    if (!flags.quiet)
        for (const std::string& note : flags.notes_for_one_process()) std::fprintf(stderr, "note: %s\n", note.c_str());
    return start_program(command);
}

}  // namespace

void add_launch(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("launch", "Start a program, a plan or a preset with Accelerate's launch flags");
    verb->footer(
        "mantissa launch [FLAGS] PROGRAM|PLAN|PRESET [ARGUMENTS]\n"
        "A program finds the settings in ACCELERATE_MIXED_PRECISION and its sisters; behind a plan come flags of\n"
        "`mantissa train`. Order of sources: flag > environment > Accelerate's default_config.yaml > default.\n"
        "Flags are spelled with _ or with -.");
    verb->prefix_command();
    auto flags = std::make_shared<LaunchFlags>();
    flags->add_to(*verb);
    verb->callback([flags, verb, &result] { result = launch(*flags, *verb); });
}

}  // namespace mantissa::cli
