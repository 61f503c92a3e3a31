#include "launch_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "plan/nearest.h"

namespace mantissa::cli {
namespace {

struct TakenFlag {
    const char *name, *path, *help;
};

// What one process on this machine has a use for.
constexpr TakenFlag taken[] = {
    {"mixed_precision", "mixed_precision", "no, fp16, bf16 or fp8, any case"},
    {"num_processes", "launch.processes", "processes that train together"},
    {"gradient_accumulation_steps", "training.gradient_accumulation_steps", "micro-batches of a step"},
    {"num_cpu_threads_per_process", "launch.threads", "threads of the process"},
};

struct IdleFlag {
    const char *name, *harmless, *why;
};

// Said when they are given with another value than the harmless one.
constexpr IdleFlag idle[] = {
    {"rdzv_backend", "static", "process 0 keeps the meeting point"},
    {"rdzv_conf", "", "process 0 keeps the meeting point"},
    {"max_restarts", "0", "a program that fails is not started again"},
    {"monitor_interval", "", "a program that fails is not started again"},
    {"tee", "0", "the program's words are on this terminal"},
    {"role", "", "all processes have the same one"},
    {"log_dir", "", "the program's words are on this terminal"},
    {"main_training_function", "", "it belongs to TPUs"},
};

// Of several processes; one alone has no use for them.
constexpr IdleFlag of_several[] = {
    {"machine_rank", "0", "there is one process"},
    {"main_process_ip", "", "there is one process"},
    {"main_process_port", "", "there is one process"},
};

struct Family {
    const char *prefix, *what;
};

constexpr Family families[] = {
    {"--fsdp", "fully sharded data parallel training"}, {"--use-fsdp", "fully sharded data parallel training"},
    {"--deepspeed", "DeepSpeed"},                       {"--use-deepspeed", "DeepSpeed"},
    {"--zero", "DeepSpeed"},                            {"--offload", "DeepSpeed"},
    {"--gradient-clipping", "DeepSpeed"},               {"--megatron", "Megatron-LM"},
    {"--use-megatron", "Megatron-LM"},                  {"--parallelism", "a parallelism configuration"},
    {"--use-parallelism", "a parallelism configuration"}, {"--dynamo", "compilation by TorchDynamo"},
    {"--fp8", "a backend for fp8"},                     {"--tpu", "training on TPUs"},
    {"--no-tpu", "training on TPUs"},                   {"--vm", "training on TPUs"},
    {"--env", "training on TPUs"},                      {"--downcast", "training on TPUs"},
    {"--aws", "SageMaker"},                             {"--mpirun", "a start by mpirun"},
};

std::string hyphens(std::string text) {
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

std::string both_spellings(const std::string& name) {
    const std::string hyphened = hyphens(name);
    return hyphened == name ? "--" + name : "--" + name + ",--" + hyphened;
}

}  // namespace

void LaunchFlags::add_value(CLI::App& verb, const std::string& name, const char* help) {
    verb.add_option(both_spellings(name), m_values[name], help)->type_name("");
}

void LaunchFlags::add_switch(CLI::App& verb, const std::string& name, const char* help) {
    verb.add_flag(both_spellings(name), m_switches[name], help);
}

void LaunchFlags::add_to(CLI::App& verb) {
    verb.add_option("--config_file,--config-file", config_file, "Accelerate's configuration instead of its default file");
    for (const TakenFlag& flag : taken) add_value(verb, flag.name, flag.help);
    add_switch(verb, "cpu", "train on the CPU");
    add_value(verb, "gpu_ids", "the GPUs that may be seen: all, or numbers as in 0,1");
    add_value(verb, "num_machines", "machines (1); num_processes counts those of all together");
    add_value(verb, "machine_rank", "the number of this machine, from 0");
    add_value(verb, "main_process_ip", "where process 0 is, for several machines");
    add_value(verb, "main_process_port", "port at which the processes meet; 0 or nothing: a free one, 29500 for several machines");
    add_switch(verb, "multi_gpu", "one GPU for each process");
    verb.add_flag("--debug", debug, "sets ACCELERATE_DEBUG_MODE for the program");
    verb.add_flag("-q,--quiet", quiet, "nothing but the program's own words");
    add_switch(verb, "no_python", "the target is a program (always so here)");
    verb.add_flag("-m,--module", m_switches["module"], "the target is a Python module; refused");
    add_switch(verb, "same_network", "no effect on one machine");
    add_switch(verb, "enable_cpu_affinity", "no effect: processes are not bound to processors");
    for (const IdleFlag& flag : idle) add_value(verb, flag.name, "no effect on one process of this machine");
}

std::optional<std::string> LaunchFlags::value(const std::string& name) const {
    const auto found = m_values.find(name);
    return found == m_values.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
}

Result<void> LaunchFlags::refuse_contradictions() const {
    if (is_given("module"))
        return Error{ErrorCode::Usage, "--module names a Python module",
                     "start Python yourself: mantissa launch … python3 -m MODULE"};
    if (is_given("cpu") && is_given("multi_gpu"))
        return Error{ErrorCode::Usage, "--cpu and --multi_gpu contradict each other", "give one of the two"};
    return {};
}

Result<PlanLayer> LaunchFlags::layer() const {
    if (auto refused = refuse_contradictions(); !refused) return refused.error();
    PlanLayer layer{ValueSource::Flag, {}, {}};
    for (const TakenFlag& flag : taken)
        if (const auto given = value(flag.name))
            if (auto set = layer.set_text(flag.path, *given, std::string("--") + flag.name); !set) return set.error();
    if (is_given("cpu"))
        if (auto set = layer.set_text("device", "cpu", "--cpu"); !set) return set.error();
    layer.notes = notes();
    return layer;
}

std::vector<std::string> LaunchFlags::notes() const {
    std::vector<std::string> lines;
    for (const IdleFlag& flag : idle)
        if (const auto given = value(flag.name); given && *given != flag.harmless)
            lines.push_back(std::string("--") + flag.name + " has no effect: " + flag.why);
    if (is_given("enable_cpu_affinity")) lines.emplace_back("--enable_cpu_affinity has no effect: processes are not bound to processors");
    return lines;
}

std::vector<std::string> LaunchFlags::notes_for_one_process() const {
    std::vector<std::string> lines;
    for (const IdleFlag& flag : of_several)
        if (const auto given = value(flag.name); given && *given != flag.harmless)
            lines.push_back(std::string("--") + flag.name + " has no effect: " + flag.why);
    return lines;
}

std::vector<std::string> LaunchFlags::for_train(bool with_processes) const {
    std::vector<std::string> arguments;
    for (const TakenFlag& flag : taken) {
        if (!with_processes && std::string(flag.name) == "num_processes") continue;
        if (const auto given = value(flag.name)) {
            arguments.push_back(std::string("--") + flag.name);
            arguments.push_back(*given);
        }
    }
    if (!config_file.empty()) arguments.insert(arguments.end(), {"--config_file", config_file});
    if (is_given("cpu")) arguments.emplace_back("--cpu");
    if (wants_gpus()) arguments.insert(arguments.end(), {"--device", "cuda"});  // each process takes the GPU of its number
    if (quiet) arguments.emplace_back("--quiet");
    return arguments;
}

Result<std::optional<std::string>> LaunchFlags::visible_gpus(const std::optional<std::string>& otherwise) const {
    const auto flag = value("gpu_ids"), given = flag ? flag : otherwise;
    if (!given || *given == "all") return std::optional<std::string>();
    const bool is_list = std::all_of(given->begin(), given->end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == ','; }) &&
                         given->front() != ',' && given->back() != ',' && given->find(",,") == std::string::npos;
    if (!is_list)
        return Error{ErrorCode::BadPlan, std::string(flag ? "--" : "") + "gpu_ids is \"" + given->substr(0, 60) + "\"", "use all, or numbers as in 0,1"};
    return given;
}

Error unknown_launch_flag(const std::string& flag, const CLI::App& verb) {
    const std::string name = flag.substr(0, flag.find('='));
    const std::string spelled = hyphens(name);
    for (const Family& family : families)
        if (spelled.starts_with(family.prefix))
            return {ErrorCode::NotBuilt, name + " belongs to " + family.what + ", which is not built", "leave it out"};
    std::vector<std::string> known;
    for (const CLI::Option* option : verb.get_options())
        for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
    const auto near = nearest_names(name, known, 1);
    return {ErrorCode::Usage, "launch has no flag " + name,
            near.empty() ? "flags of the program come behind its name" : "did you mean " + near.front() + "?"};
}

}  // namespace mantissa::cli
