#pragma once
// RunPlan: every setting of a run as plain values with the built-in defaults. Saved with the run as
// plan.json. The catalogue (plan/catalogue.h) names allowed ids and bounds; plan/plan_json.h reads and
// writes; plan/plan_sources.h knows where each value came from. "Refused as not built yet" is decided by
// plan/validate.h, never here.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"

namespace mantissa {

struct ModelPlan {
    std::string name = "mlp";  // catalogue id: mlp cnn linear squares gated
    std::string file;          // a model file; empty for catalogue models
    std::int64_t hidden =
        128;  // width of the hidden layer of mlp and squares; other models ignore nothing: refused if given
    std::string weights{};  // safetensors to start from: a file, an index, or a folder that holds either (a checkpoint of Accelerate)
    bool partial_weights = false;  // what fits is taken, the rest is told; else whatever doesn't fit is an error
    std::string output{};   // of a TorchScript model that returns several: the part's key, or its place from 0
    bool operator==(const ModelPlan&) const = default;
};

enum class TargetWish { Auto, Classes, Values };  // what the labels of a file are
enum class TableHeader { Auto, Names, None };     // whether the first line of a table names its columns
enum class MissingRule { Refuse, Drop, Mean };    // a value that isn't there: an error, its sample left out, the training samples' mean
enum class Normalise { Auto, None, Unit, Standardise };

struct DatasetPlan {
    std::string name = "digits";  // catalogue id: digits breast-cancer …; not looked at where a file is named
    std::string file;             // a data file of one's own, read by its content (samples/samples.h)
    std::string labels;           // its column, array or file of labels; empty: found by name
    std::vector<std::string> leave_out;  // columns of a table that are no features
    TargetWish target = TargetWish::Auto;
    TableHeader header = TableHeader::Auto;
    MissingRule missing = MissingRule::Refuse;
    std::int64_t context = 64;  // characters of a sample of text
    Normalise normalise = Normalise::Auto;  // Auto: bytes of a file are divided by 255, all else stays as it is
    double validation = 0.2;      // share held out, seeded and stratified; 0 = none
    std::uint64_t split_seed = 0;
    bool operator==(const DatasetPlan&) const = default;
};

enum class LaunchScope { Thread, Process, Ranks, Join };
enum class ComparisonOrder { Turns, OneByOne, AtOnce };

struct LaunchPlan {
    LaunchScope scope = LaunchScope::Process;
    std::int64_t processes = 1;
    std::int64_t threads = 1;  // intra-op threads of each worker, equal in all modes
    bool sync_batch_norm = true;  // batch norm over the batches of all processes, as one process with the whole batch has it
    std::int64_t group_timeout_seconds = 60;  // a call that waits longer for another rank is an error
    ComparisonOrder order = ComparisonOrder::Turns;
    bool operator==(const LaunchPlan&) const = default;
};

enum class OptimizerImplementation { Exact, Fused };

struct OptimizerPlan {
    std::string name = "adamw";  // sgd adam adamw
    OptimizerImplementation implementation = OptimizerImplementation::Exact;
    double learning_rate = 1e-3;
    std::optional<double> weight_decay;  // unset = the optimizer's own default (adamw 0.01, else 0)
    double momentum = 0.0, dampening = 0.0;
    bool nesterov = false;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    bool amsgrad = false, maximize = false;
    bool no_decay_on_norms_and_biases = false;  // two groups; engine/parameter_groups.h says what stays undecayed
    bool operator==(const OptimizerPlan&) const = default;
};

struct SchedulerPlan {
    std::string name = "constant";  // a schedule of the catalogue
    std::int64_t warmup_steps = 0;  // of the schedules …_with_warmup
    std::int64_t step_size = 30;    // step
    double gamma = 0.1;
    double start_factor = 1.0 / 3.0, end_factor = 1.0;  // linear
    std::int64_t total_iters = 5;
    std::int64_t t_max = 100;  // cosine
    double eta_min = 0.0;
    double max_lr = 0.1;           // one_cycle
    std::int64_t total_steps = 0;  // 0 = the steps of the plan (one_cycle, linear_ and cosine_with_warmup)
    double pct_start = 0.3, div_factor = 25.0, final_div_factor = 1e4;
    std::string anneal_strategy = "cos";  // cos linear
    bool cycle_momentum = true, three_phase = false;
    double base_momentum = 0.85, max_momentum = 0.95;
    double num_cycles = 0.5;  // cosine_with_warmup
    bool operator==(const SchedulerPlan&) const = default;
};

struct TrainingPlan {
    std::int64_t batch_size = 32;
    std::optional<std::int64_t> epochs;     // one of epochs and max_steps; neither = 4 epochs
    std::optional<std::int64_t> max_steps;  // attempts of the optimizer, skipped ones too
    std::int64_t gradient_accumulation_steps = 1;
    bool drop_last = false;      // a last, short batch of an epoch (of all ranks together) is left out
    bool split_batches = false;  // batch_size is that of all ranks together; each takes its part
    bool even_batches = true;    // ranks: a last, short batch is filled from the start; else each has what is left, maybe nothing
    OptimizerPlan optimizer;
    SchedulerPlan scheduler;
    std::string loss = "cross_entropy";  // cross_entropy mse naive_nll
    double loss_factor = 1.0;
    std::optional<double> clip_grad_norm, clip_grad_value;
    std::uint64_t seed = 3;
    bool deterministic = true;
    bool operator==(const TrainingPlan&) const = default;
};

struct LossScalePlan {
    double initial = 65536.0;
    double growth_factor = 2.0;  // 1 with backoff 1 = a fixed scale
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;
    double floor = 6.103515625e-05;  // 2^-14: holds the scale and raises scale_collapse
    bool operator==(const LossScalePlan&) const = default;
};

enum class EvaluationSplit { Validation, Training };
enum class EvaluationPrecision { Fp32, Autocast, Both };

struct EvaluationPlan {
    std::int64_t every = 60;  // steps; 0 = at the end only. An evaluation always happens at the end.
    EvaluationSplit split = EvaluationSplit::Validation;
    std::string metric = "accuracy";  // accuracy loss
    EvaluationPrecision precision = EvaluationPrecision::Fp32;
    bool operator==(const EvaluationPlan&) const = default;
};

enum class OnNonfinite { Stop, Pause, Skip, Mark };
enum class CpuHalf { Torch, Fast };
enum class Tf32 { Torch, Off, On };  // of fp32 products and convolutions on a GPU; torch: convolutions alone
enum class BatchNormOnSkip { Restore, Keep };
enum class ShortWindow { RightSized, Upstream };
enum class Compat { None, Accelerate };

struct ObservePlan {
    std::int64_t level = 1;  // 0 largest values of every step; 1 tensor records every `every_steps`; 2 every step
    std::int64_t every_steps = 50;
    std::int64_t local_error_every = 0;   // steps between two comparisons with fp32 on the same batch; 0 = never
    bool keep_states = true;              // two states in memory, so that a faulty step can be done again
    std::int64_t keep_states_every = 50;  // steps between them
    std::int64_t keep_states_mib = 4096;  // both together; a model above it is not kept, which is told
    std::vector<std::string> alarms;      // judge/alarms.h: "off", or "rule threshold=… steps=… action=…" for what differs from the defaults
    bool operator==(const ObservePlan&) const = default;
};

/// More runs of the control in a comparison, so that its own spread is known.
struct RepetitionPlan {
    std::int64_t control = 0;   // replicas with another batch order: the band that differences are judged by
    std::int64_t rounding = 0;  // replicas nudged by one last bit: shown as a thin line, never used for a verdict
    bool operator==(const RepetitionPlan&) const = default;
};

struct CheckpointPlan {
    std::int64_t every = 0;   // steps between two on the way; 0 = none on the way
    bool at_end = true;       // the end state is kept: weights to save, and a run to go on from
    std::int64_t keep = 2;    // the oldest go; the last and the one before always stay
    std::string resume_from;  // a checkpoint folder, or a run (its newest checkpoint); empty = from the seed
    bool operator==(const CheckpointPlan&) const = default;
};

struct RunPlan {
    std::string name = "untitled";
    ModelPlan model;
    DatasetPlan dataset;
    std::string device = "auto";  // auto cpu cuda cuda:N
    Precision mixed_precision = Precision::No;
    std::vector<Precision> modes;  // of a comparison; the control `no` is always among them
    LaunchPlan launch;
    TrainingPlan training;
    LossScalePlan loss_scale;
    EvaluationPlan evaluation;
    std::vector<std::string> fp32_islands;  // path, path.op or aten::op
    OnNonfinite on_nonfinite = OnNonfinite::Stop;
    bool allow_emulated = false;
    CpuHalf cpu_half = CpuHalf::Torch;
    Tf32 tf32 = Tf32::Torch;
    BatchNormOnSkip batch_norm_on_skip = BatchNormOnSkip::Restore;
    ShortWindow short_window = ShortWindow::RightSized;
    Compat compat = Compat::None;
    ObservePlan observe;
    RepetitionPlan repetitions;
    CheckpointPlan checkpoint;
    bool operator==(const RunPlan&) const = default;
};

inline constexpr std::int64_t default_epochs = 4;  // with neither epochs nor max_steps

/// With the batch of all processes together.
[[nodiscard]] TrainingPlan of_all_ranks(const RunPlan& plan);
/// Steps of the whole plan for a training set of that many samples (max_steps, else epochs × windows per
/// epoch).
[[nodiscard]] std::int64_t planned_steps(const TrainingPlan& training, std::int64_t training_samples);

}  // namespace mantissa
