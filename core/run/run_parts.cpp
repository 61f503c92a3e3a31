#include "run/run_parts.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/freed_memory.h"
#include "base/sha256.h"
#include "data/batch_source.h"
#include "data/random.h"
#include "data/sample_order.h"
#include "data/tensor_hash.h"
#include "engine/engine_error.h"
#include "engine/gradient_sync.h"
#include "engine/parameter_groups.h"
#include "models/model_registry.h"
#include "plan/nearest.h"
#include "plan/plan_json.h"
#include "run/replica_parts.h"

namespace mantissa {
namespace {

// What the design lets differ between runs of one comparison: mode, loss scale and names.
std::string plan_hash(const RunPlan& plan) {
    nlohmann::json json = to_json(plan);
    for (const char* key : {"name", "mixed_precision", "modes", "loss_scale"}) json.erase(key);
    return sha256_hex(json.dump());
}

void set_tf32(Tf32 wish) {
    if (wish == Tf32::Torch) return;
    at::globalContext().setAllowTF32CuBLAS(wish == Tf32::On);
    at::globalContext().setAllowTF32CuDNN(wish == Tf32::On);
}

void set_process(const RunPlan& plan) {
    keep_freed_memory();
    at::set_num_threads(static_cast<int>(plan.launch.threads));
    set_tf32(plan.tf32);
    at::globalContext().setDeterministicAlgorithms(plan.training.deterministic, false);
    // Deterministic mode would also fill every fresh tensor with NaN, which costs time and changes no result.
    at::globalContext().setDeterministicFillUninitializedMemory(false);
}

Optimizer build_optimizer(const OptimizerPlan& plan, const Model& model) {
    if (!plan.no_decay_on_norms_and_biases) return make_optimizer(plan, model.parameters());
    DecayGroups groups = no_decay_on_norms_and_biases(model);
    return make_optimizer(plan, std::move(groups.decayed), std::move(groups.undecayed));
}

Result<void> refuse_unbuilt(const RunPlan& plan) {
    if (plan.cpu_half == CpuHalf::Fast) {
        return Error{ErrorCode::NotBuilt, "cpu_half is \"fast\": not built yet", "use \"torch\""};
    }
    if (plan.evaluation.metric != "accuracy" && plan.evaluation.metric != "loss") {
        return Error{ErrorCode::NotBuilt,
                     "evaluation.metric is \"" + plan.evaluation.metric + "\": not built yet",
                     "use accuracy or loss"};
    }
    return {};
}

layers::SampleForm form_of(const Dataset& dataset) {
    using Target = layers::SampleForm::Target;
    const Target target = dataset.target == SampleTarget::Values ? Target::Value : dataset.are_tokens() ? Target::EachPiece : Target::Class;
    return {dataset.name, dataset.sample_shape.empty() ? layers::Shape{dataset.width()} : dataset.sample_shape, dataset.outputs(), target};
}

// What is to be learned decides which losses and metrics have a meaning.
Result<void> check_target(const RunPlan& plan, const Dataset& dataset) {
    const std::string& loss = plan.training.loss;
    const bool takes_values = loss == "mse" || loss == "l1" || loss == "huber";
    if (dataset.target == SampleTarget::Values && !takes_values)
        return Error{ErrorCode::BadPlan, "training.loss is \"" + loss + "\", but the labels of " + dataset.name + " are values, not classes",
                     "use training.loss mse, l1 or huber; or dataset.target classes"};
    if (dataset.target == SampleTarget::Values && plan.evaluation.metric == "accuracy")
        return Error{ErrorCode::BadPlan, "evaluation.metric is \"accuracy\", but the labels of " + dataset.name + " are values, not classes", "use evaluation.metric loss"};
    if (dataset.are_tokens() && plan.model.file.empty())
        return Error{ErrorCode::BadPlan, "model.name is \"" + plan.model.name + "\", which takes numbers, but " + dataset.name + " is a text, whose samples are characters",
                     "use a model that begins with an embedding: model.file"};
    if (dataset.target == SampleTarget::NextToken && loss != "cross_entropy")
        return Error{ErrorCode::BadPlan, "training.loss is \"" + loss + "\", but of the text " + dataset.name + " the next character is to be learned", "use training.loss cross_entropy"};
    return {};
}

// A run that goes on has the weights of its checkpoint.
Result<std::optional<LoadedModel>> start_weights(const RunPlan& plan, Model& model) {
    if (plan.model.weights.empty() || !plan.checkpoint.resume_from.empty()) return std::optional<LoadedModel>();
    try {
        LoadedModel found = load_weights(model, plan.model.weights, !plan.model.partial_weights);
        const std::size_t all = weights_of(model).size();
        if (found.missing.size() + found.mis_shaped.size() < all) return std::optional(std::move(found));
        return Error{ErrorCode::BadPlan, "model.weights is \"" + plan.model.weights + "\", of which nothing fits the model " + model.name(), "name weights of this model"};
    } catch (const EngineError& problem) {
        Error error = problem.error();
        if (error.code == ErrorCode::BadPlan) error.hint = "use model.partial_weights true to take what fits";
        return error;
    }
}

// Modules of ours run as islands by themselves, which costs nothing per op; what is left are operations.
Result<std::vector<std::string>> set_islands(Model& model, const std::vector<std::string>& islands) {
    const std::vector<std::string> known = model.paths();
    const auto is_path = [&known](const std::string& name) {
        return std::find(known.begin(), known.end(), name) != known.end();
    };
    std::vector<std::string> paths, ops;
    for (std::size_t i = 0; i < islands.size(); ++i) {
        const std::string parent = islands[i].substr(0, islands[i].rfind('.'));
        if (is_path(islands[i]) && !model.is_script()) {
            paths.push_back(islands[i]);
        } else if (islands[i].starts_with("aten::") || is_path(parent) || is_path(islands[i])) {
            ops.push_back(islands[i]);
        } else {
            const std::vector<std::string> nearest = nearest_names(islands[i], known);
            return Error{ErrorCode::BadPlan,
                         "fp32_islands[" + std::to_string(i) + "] is \"" + islands[i] + "\", but model " +
                             model.name() + " has no module of that path",
                         nearest.empty() ? "its modules are " + join_names(known)
                                         : "did you mean " + join_names(nearest) +
                                               "? Its modules are " + join_names(known)};
        }
    }
    if (const Result<void> set = model.set_fp32_islands(paths); !set) return set.error();
    return ops;
}

// Each weight becomes its next or its last float32 neighbour, by a coin of the replica's own.
void nudge_weights(Model& model, std::int64_t number) {
    const torch::NoGradGuard no_grad;
    at::Generator coin = seeded_generator(static_cast<std::uint64_t>(number));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (torch::Tensor& weight : model.parameters()) {
        const torch::Tensor up = at::rand(weight.sizes(), coin, weight.options().requires_grad(false)).ge(0.5);
        const torch::Tensor towards = at::where(up, at::full_like(weight, infinity), at::full_like(weight, -infinity));
        weight.copy_(at::nextafter(weight, towards));
    }
}

}  // namespace

std::string state_hash(Model& model) {
    std::vector<std::pair<std::string, torch::Tensor>> state;
    for (const auto& entry : model.named_parameters()) state.emplace_back(entry.key(), entry.value());
    for (const auto& entry : model.named_buffers()) state.emplace_back(entry.key(), entry.value());
    return tensor_hash(state);
}

std::string training_split_hash(const RunParts& parts) { return tensor_hash({{"training", parts.split.training}}); }

Result<DeviceChoice> choose_run_device(const RunPlan& plan, const RankPlace* place) {
    DeviceWish wish{.device = plan.device};
    if (plan.launch.scope == LaunchScope::Ranks) wish.processes = plan.launch.processes;
    // A joined launch tells how many there are in all, not how many on this machine: at least those before this one.
    if (place != nullptr) {
        wish.local_rank = place->local_rank;
        if (place->size > 1) wish.processes = std::max(wish.processes, wish.local_rank + 1);
    }
    return choose_device_of_several(find_devices(), wish, plan.mixed_precision, plan.allow_emulated);
}

HostLooks host_looks_of(const RunPlan& plan, DeviceFacts::Kind device, bool is_alone) {
    const OnNonfinite rule = accelerator_options(plan).on_nonfinite;
    const bool can_wait = device == DeviceFacts::Kind::Cuda && plan.mixed_precision != Precision::Fp16 && is_alone &&
                          plan.training.optimizer.implementation == OptimizerImplementation::Fused && !plan.training.clip_grad_norm &&
                          !plan.training.clip_grad_value && (rule == OnNonfinite::Stop || rule == OnNonfinite::Mark);
    return can_wait ? HostLooks::Later : HostLooks::AsNeeded;
}

namespace {

Result<std::unique_ptr<RunParts>> build(const RunPlan& plan, const DeviceChoice& choice, const Replica& replica,
                                        std::shared_ptr<Ranks> ranks, HostLooks looks = HostLooks::AsNeeded) {
    if (const Result<void> built = refuse_unbuilt(plan); !built) return built.error();
    set_process(plan);

    Result<Dataset> dataset = load_dataset(plan.dataset);
    if (!dataset) return dataset.error();
    Result<Split> split = split_dataset(*dataset, plan.dataset.validation, plan.dataset.split_seed);
    if (!split) return split.error();
    if (const Result<void> fits = check_target(plan, *dataset); !fits) return fits.error();
    prepare_dataset(*dataset, plan.dataset, split->training);
    Result<LossFunction> loss = find_loss(plan.training.loss);
    if (!loss) return loss.error();
    Result<std::shared_ptr<Model>> model =
        make_model(plan.model, form_of(*dataset), plan.training.seed);
    if (!model) return model.error();
    if ((*model)->is_script()) (*model)->set_sample_shape(dataset->sample_shape);  // a layer list knows its own
    Result<std::optional<LoadedModel>> weights = start_weights(plan, **model);
    if (!weights) return weights.error();
    Result<std::vector<std::string>> op_islands = set_islands(**model, plan.fp32_islands);
    if (!op_islands) return op_islands.error();

    const std::int64_t processes = ranks ? ranks->group()->size() : 1;
    TrainingPlan together = plan.training;
    if (!together.split_batches) together.batch_size *= processes;
    const std::int64_t samples = split->training.size(0);
    if (together.drop_last && samples < together.batch_size) {
        return Error{ErrorCode::BadPlan,
                     "training.drop_last leaves no batch: all processes' batches together are " + std::to_string(together.batch_size) +
                         " of only " + std::to_string(samples) + " training samples",
                     "use a smaller training.batch_size, or training.drop_last false"};
    }
    const std::int64_t steps = planned_steps(together, samples);
    if (replica.role == ReplicaRole::Rounding) nudge_weights(**model, replica.number);
    const SampleOrder order(split->training, replica.order_seed(static_cast<std::uint64_t>(plan.training.seed)));
    RunHashes hashes{state_hash(**model), content_hash(*dataset),
                     order.hash(steps, together.batch_size, plan.training.gradient_accumulation_steps, together.drop_last),
                     plan_hash(plan)};
    // What one process would find at its own place would be other samples than the ones it is taken to have.
    if (ranks) {
        refuse_differences(*ranks->group(), "data " + hashes.data + "\nsample order " + hashes.sample_order + "\n",
                           "the processes of one run have different data", "give every process the same data file and plan");
    }

    AcceleratorOptions options = accelerator_options(plan);
    options.device = choice.device.id;
    options.fp32_islands = std::move(*op_islands);
    if (ranks) options.processes = ranks->group();
    options.host_looks = looks;
    Accelerator accelerator(options);
    auto prepared_model = accelerator.prepare(std::move(*model));
    Optimizer optimizer = build_optimizer(plan.training.optimizer, *prepared_model.unwrap());
    Scheduler scheduler = make_scheduler(plan.training.scheduler, optimizer, 
                                         plan.training.split_batches ? steps : steps * processes);  // as often as an update moves it
    auto prepared_scheduler = accelerator.prepare(std::move(scheduler));
    auto prepared_optimizer = accelerator.prepare(std::move(optimizer));
    auto loader = accelerator.prepare(
        Loader(std::make_unique<OrderedBatches>(*dataset, order, plan.training.batch_size, plan.training.drop_last)));
    return std::unique_ptr<RunParts>(
        new RunParts{choice, std::move(*dataset), std::move(*split), *loss, accelerator,
                     std::move(prepared_model), std::move(prepared_optimizer), std::move(prepared_scheduler),
                     std::move(loader), steps, std::move(hashes), std::move(ranks), looks == HostLooks::Later, std::move(*weights)});
}

}  // namespace

Result<std::unique_ptr<RunParts>> build_run(const RunPlan& plan, const DeviceChoice& choice) {
    return build(plan, choice, {}, nullptr);
}

Result<std::unique_ptr<RunParts>> build_run(const RunPlan& plan, const DeviceChoice& choice, const Replica& replica) {
    // A training run can tell its steps later; a trial and a replay look at each.
    return build(plan, choice, replica, nullptr, host_looks_of(plan, choice.device.kind, true));
}

Result<std::unique_ptr<RunParts>> build_run(const RunPlan& plan, const DeviceChoice& choice, std::shared_ptr<Ranks> ranks) {
    return build(plan, choice, {}, std::move(ranks));
}

}  // namespace mantissa
