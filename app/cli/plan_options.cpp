#include "plan_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "launch/resume.h"
#include "launch/trusted_files.h"
#include "layers/layer_presets.h"
#include "plan/catalogue.h"
#include "plan/plan_json.h"
#include "plan/presets.h"
#include "run_argument.h"

namespace mantissa::cli {
namespace {

/// No preset, model or data set is called like a path.
bool is_file_name(const std::string& text) {
    std::error_code ignored;
    return text.find_first_of("./") != std::string::npos || std::filesystem::is_regular_file(text, ignored);
}

struct NamedPlan {
    PlanLayer layer;
    std::optional<Preset> preset;
};

Result<NamedPlan> load_plan(const std::string& name) {
    if (is_file_name(name)) {
        auto text = read_file(name, plan_file_limit_bytes);
        if (!text) return text.error();
        auto layer = plan_text_layer(*text, ValueSource::Plan, name);
        if (!layer) return layer.error();
        return NamedPlan{std::move(*layer), std::nullopt};
    }
    auto preset = load_preset(name);
    if (!preset) return preset.error();
    auto layer = preset_layer(*preset);
    if (!layer) return layer.error();
    return NamedPlan{std::move(*layer), std::move(*preset)};
}

constexpr const char* resume_path = "checkpoint.resume_from";

std::optional<std::string> text_of(const PlanLayer& layer, const char* path) {
    for (const LayerValue& value : layer.values) {
        if (value.path != path) continue;
        const auto text = nlohmann::json::parse(value.value_json).get<std::string>();
        return text.empty() ? std::nullopt : std::optional(text);
    }
    return std::nullopt;
}

/// RUN of the command line ("last", the beginning of a name) or a checkpoint folder.
Result<CheckpointInfo> checkpoint_of(const std::string& text, const std::filesystem::path& runs) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::path(text) / "state.json", ignored)) return find_checkpoint(text);
    const auto run = find_run(text, runs);
    if (!run) return run.error();
    if (std::filesystem::exists(*run / "comparison.json", ignored))
        return Error{ErrorCode::Usage, run->filename().string() + " is a comparison: one of its runs can go on",
                     "`mantissa runs checkpoints " + run->filename().string() + "` lists them"};
    return find_checkpoint(*run);
}

/// `layer` says where to go on from: its value becomes that one checkpoint, whose plan becomes a source.
Result<void> add_checkpoint(PlanLayer& layer, const std::filesystem::path& runs, PlanLayer& source) {
    const auto text = text_of(layer, resume_path);
    if (!text) return {};
    const auto value = std::find_if(layer.values.begin(), layer.values.end(),
                                    [](const LayerValue& one) { return one.path == resume_path; });
    auto checkpoint = checkpoint_of(*text, runs);
    if (!checkpoint)
        return Error{checkpoint.error().code, value->detail + ": " + checkpoint.error().message, checkpoint.error().hint};
    const auto saved = plan_of_checkpoint(*checkpoint);
    if (!saved) return saved.error();
    const auto folder = std::filesystem::absolute(checkpoint->path).lexically_normal();
    const bool is_in_a_run = folder.parent_path().filename() == "checkpoints";  // else it was copied out of it
    const std::string run = folder.parent_path().parent_path().filename().string();
    auto values = checkpoint_layer(saved->plan, is_in_a_run ? run + "/" + folder.filename().string() : folder.string());
    if (!values) return values.error();
    value->value_json = nlohmann::json(folder.string()).dump();
    source = std::move(*values);
    for (std::string& note : passed_over_notes(*checkpoint)) source.notes.push_back(std::move(note));
    return {};
}

}  // namespace

void PlanOptions::add_flag(CLI::App& verb, const char* names, const char* path, const char* help) {
    const std::string all = names;
    const std::string flag = all.substr(0, all.find(','));
    verb.add_option_function<std::string>(
            all,
            [this, path, flag](const std::string& text) {
                m_given.push_back({path, text, flag});
            },
            help)
        ->group("Plan");
}

void PlanOptions::add_switch(CLI::App& verb, const char* names, const char* path, const char* help) {
    const std::string all = names;
    Switch& one = m_switches.emplace_back(Switch{path, all.substr(0, all.find(',')), false, nullptr});
    one.option = verb.add_flag(all, one.is_on, help)->group("Plan");
}

void PlanOptions::add_to(CLI::App& verb, PlanUse use) {
    verb.add_option("PLAN", m_plan,
                    "a plan file (JSON), or a preset: digits-cnn, digits-mlp, article-1, article-2, "
                    "cancer-overflow, gated-overflow, digits-bright")
        ->required();
    if (use == PlanUse::Train) {
        verb.get_option("PLAN")->required(false);  // --resume-from brings one
        add_flag(verb, "--resume-from,--resume_from", "checkpoint.resume_from",
                 "go on from a checkpoint folder, or from a run's newest; its plan is the source then");
    }
    add_flag(verb, "--checkpoint-every,--checkpoint_every", "checkpoint.every",
             "steps between checkpoints; 0 (default) = the end state alone");
    if (use == PlanUse::Compare) {
        add_flag(verb, "--modes", "modes",
                 "precision modes, for example no,fp16,bf16 (the control no is always among them)");
        add_flag(verb, "--order", "launch.order", "turns (default), one-by-one, at-once");
        add_flag(verb, "--repetitions", "repetitions.control",
                 "more runs of the control with another batch order; from 2 on differences are judged by their spread");
        add_flag(verb, "--rounding-replicas,--rounding_replicas", "repetitions.rounding",
                 "more runs of the control from weights moved by one last bit; shown, never used for a verdict");
    }
    add_flag(verb, "--mixed_precision,--mixed-precision", "mixed_precision",
             "no, fp16, bf16 or fp8, any case");
    add_flag(verb, "--device", "device", "auto (default), cpu, cuda, cuda:N");
    verb.add_flag("--cpu", m_cpu, "the same as --device cpu")->group("Plan");
    add_flag(verb, "--scope", "launch.scope", "process (default), ranks (several processes train together), thread");
    add_flag(verb, "--max-steps,--max_steps", "training.max_steps",
             "attempts of the optimizer, skipped ones too");
    add_flag(verb, "--epochs", "training.epochs", "passes over the training data");
    add_flag(verb, "--batch-size,--batch_size", "training.batch_size", "samples of a micro-batch");
    add_flag(verb, "--gradient_accumulation_steps,--gradient-accumulation-steps",
             "training.gradient_accumulation_steps", "micro-batches of a step");
    add_flag(verb, "--learning-rate,--learning_rate", "training.optimizer.learning_rate",
             "learning rate of the optimizer");
    add_flag(verb, "--seed", "training.seed", "seed of initial weights and batch order");
    add_flag(verb, "--on-nonfinite,--on_nonfinite", "on_nonfinite", "stop (default), pause, skip or mark");
    verb.add_flag("--allow-emulated,--allow_emulated", m_allow_emulated,
                  "train in a mode that the device only emulates")
        ->group("Plan");
    add_flag(verb, "--num_processes,--num-processes", "launch.processes",
             "processes that train together on this machine (1); 2 or more is --scope ranks");
    add_flag(verb, "--group-timeout,--group_timeout", "launch.group_timeout_seconds",
             "seconds that a process waits for another one (60) before the run ends");
    for (const auto& [names, path, help] : {std::array{"--split_batches,--split-batches", "training.split_batches",
                                                       "processes divide each batch; else each has one of its own"},
                                            std::array{"--even_batches,--even-batches,!--no_even_batches,!--no-even-batches",
                                                       "training.even_batches",
                                                       "on by default: the processes' last batches of an epoch are filled from its start"},
                                            std::array{"--drop_last,--drop-last", "training.drop_last",
                                                       "leave a last, short batch of an epoch out"}}) {
        add_switch(verb, names, path, help);
    }
    add_flag(verb, "--num_cpu_threads_per_process,--threads", "launch.threads",
             "threads of a worker, equal in all modes");
    verb.add_option("--model", m_model, "a model or layer list of `mantissa models`, or a model file")->group("Plan");
    verb.add_option("--dataset", m_dataset, "a data set of `mantissa datasets`, or a data file (`mantissa datasets show FILE` looks into it)")
        ->group("Plan");
    verb.add_flag("--trust", m_trust, "load a TorchScript model file")->group("Plan");
    add_flag(verb, "--name", "name", "name of the run");
    verb.add_option("--config_file,--config-file", m_config_file,
                    "Accelerate's configuration instead of its default file")
        ->group("Plan");
    verb.add_option("--set", m_assignments,
                    "any field of the plan: --set training.clip_grad_norm=1 (may be repeated)")
        ->group("Plan")
        ->take_all()
        ->allow_extra_args(false);
}

void PlanOptions::make_plan_optional(CLI::App& verb) {
    verb.get_option("PLAN")->required(false);
    m_is_optional = true;
}

Result<void> PlanOptions::add_model_and_data(PlanLayer& layer) const {
    if (!m_model.empty()) {
        const bool is_known = catalogue::find_model(m_model) != nullptr;
        const std::string listed = is_known ? "" : layers::layer_preset_file(m_model).string();
        const bool is_file = !is_known && (!listed.empty() || is_file_name(m_model));
        if (auto set = layer.set_text(is_file ? "model.file" : "model", listed.empty() ? m_model : listed, "--model"); !set) return set;
        // Without --trust the start says what it wants.
        if (is_file && m_trust)
            if (auto trusted = trust_file(m_model); !trusted) return trusted;
    }
    if (m_trust && !is_file_name(m_model))
        return Error{ErrorCode::Usage, "--trust belongs to a model file", "name it with --model FILE"};
    if (m_dataset.empty()) return {};
    const bool is_file = catalogue::find_dataset(m_dataset) == nullptr && is_file_name(m_dataset);
    return layer.set_text(is_file ? "dataset.file" : "dataset", m_dataset, "--dataset");
}

Result<PlanLayer> PlanOptions::flag_layer() const {
    PlanLayer layer{ValueSource::Flag, {}, {}};
    for (const std::string& assignment : m_assignments)
        if (auto set = layer.set_assignment(assignment); !set) return set.error();
    std::vector<Given> all = m_given;
    for (const Switch& one : m_switches) {
        if (one.option->count() > 0) all.push_back({one.path, one.is_on ? "true" : "false", one.flag});
    }
    for (const Given& given : all) {
        if (m_cpu && given.path == "device" && given.text != "cpu")
            return Error{ErrorCode::Usage, "--cpu and --device " + given.text + " contradict each other",
                         "give one of the two"};
        const auto equal =
            std::find_if(layer.values.begin(), layer.values.end(),
                         [&given](const LayerValue& value) { return value.path == given.path; });
        if (equal != layer.values.end())
            return Error{ErrorCode::Usage,
                         given.flag + " and --set " + given.path + " say the same thing twice",
                         "give one of the two"};
        if (given.path == "modes" && given.text.empty())
            return Error{ErrorCode::BadPlan, "--modes names no mode", "for example --modes no,fp16,bf16"};
        if (auto set = layer.set_text(given.path, given.text, given.flag); !set) return set.error();
    }
    if (m_cpu)
        if (auto set = layer.set_text("device", "cpu", "--cpu"); !set) return set.error();
    if (m_allow_emulated)
        if (auto set = layer.set_text("allow_emulated", "true", "--allow-emulated"); !set) return set.error();
    if (auto set = add_model_and_data(layer); !set) return set.error();
    return layer;
}

Result<PlanLayer> PlanOptions::plan_layer(std::optional<Preset>& preset, bool goes_on) const {
    if (m_plan.empty()) {
        if (m_is_optional || goes_on) return PlanLayer{ValueSource::Plan, {}, {}};
        return Error{ErrorCode::Usage, "PLAN is required",
                     "name a plan file or a preset, or go on from a run with --resume-from RUN"};
    }
    auto named = load_plan(m_plan);
    if (!named) return named.error();
    preset = std::move(named->preset);
    return std::move(named->layer);
}

Result<SourcedPlan> PlanOptions::resolve(PlanUse use, const std::filesystem::path& runs) const {
    auto flags = flag_layer();
    if (!flags) return flags.error();
    std::optional<Preset> preset;
    auto plan = plan_layer(preset, text_of(*flags, resume_path).has_value());
    if (!plan) return plan.error();
    PlanLayer checkpoint{ValueSource::Checkpoint, {}, {}};
    if (use == PlanUse::Train && !runs.empty())
        if (auto source = add_checkpoint(text_of(*flags, resume_path) ? *flags : *plan, runs, checkpoint); !source)
            return source.error();
    auto environment = process_environment_layer();
    if (!environment) return environment.error();
    const auto config_file =
        m_config_file.empty() ? std::nullopt : std::optional<std::filesystem::path>(m_config_file);
    auto config = accelerate_config_layer(config_file, process_environment());
    if (!config) return config.error();
    auto resolved =
        resolve_plan({*config, *environment, checkpoint, *plan, *flags}, use, compare_defaults(preset));
    if (resolved && use == PlanUse::Train && !resolved->plan.modes.empty())
        resolved->notes.emplace_back("modes are for a comparison; this run takes mixed_precision " +
                                     std::string(to_string(resolved->plan.mixed_precision)));
    return resolved;
}

}  // namespace mantissa::cli
