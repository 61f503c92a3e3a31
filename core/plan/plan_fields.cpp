#include "plan/plan_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/catalogue.h"
#include "plan/field_codec.h"
#include "plan/nearest.h"

namespace mantissa {
namespace {

using codec::Json;

template <typename Access>
Json get_value(const RunPlan& plan) {
    return codec::encode(Access{}(const_cast<RunPlan&>(plan)));  // the accessor only names the member
}

template <typename Access>
Result<void> set_value(const PlanField& field, RunPlan& plan, const Json& value) {
    auto& member = Access{}(plan);
    auto read = codec::decode<std::remove_cvref_t<decltype(member)>>(field, value);
    if (!read) return read.error();
    member = std::move(*read);
    return {};
}

template <typename Access>
PlanField make(Access, const char* path, FieldKind kind, const char* about) {
    using Member = std::remove_cvref_t<decltype(Access{}(std::declval<RunPlan&>()))>;
    PlanField field;
    field.path = path;
    field.kind = kind;
    field.about = about;
    field.is_optional = codec::is_optional<Member>::value;
    field.get = &get_value<Access>;
    field.set = &set_value<Access>;
    if constexpr (std::is_enum_v<Member> && !std::is_same_v<Member, Precision>)
        for (const auto& entry : names_of<Member>()) field.choices.emplace_back(entry.second);
    return field;
}

PlanField with_choices(PlanField field, std::vector<std::string> choices) {
    field.choices = std::move(choices);
    return field;
}

PlanField with_limits(PlanField field, double minimum, double maximum, bool above = false,
                      bool below = false) {
    field.limits = {minimum, maximum, above, below};
    return field;
}

// clang-format off
// AT names a member once, for reading and writing.
#define AT(member) [](RunPlan& plan) -> auto& { return plan.member; }
#define TEXT(member, about) make(AT(member), #member, FieldKind::Text, about)
#define CHOICE(member, about) make(AT(member), #member, FieldKind::Choice, about)
#define SWITCH(member, about) make(AT(member), #member, FieldKind::Switch, about)
#define WHOLE(member, low, high, about) with_limits(make(AT(member), #member, FieldKind::Integer, about), low, high)
#define NUMBER(member, low, high, about) with_limits(make(AT(member), #member, FieldKind::Number, about), low, high)
#define POSITIVE(member, high, about) with_limits(make(AT(member), #member, FieldKind::Number, about), 0, high, true)
#define SHARE(member, about) with_limits(make(AT(member), #member, FieldKind::Number, about), 0, 1, false, true)
// clang-format on

constexpr double many = 1e9;
constexpr double large = 1e30;

std::vector<std::string> mode_names() {
    std::vector<std::string> names;
    for (const Precision mode : all_precisions) names.emplace_back(to_string(mode));
    return names;
}

void add_what_and_where(std::vector<PlanField>& fields) {
    fields.push_back(TEXT(name, "name of the run; part of its folder's name"));
    fields.push_back(with_choices(CHOICE(model.name, "model of the catalogue"), catalogue::model_ids()));
    fields.push_back(TEXT(model.file, "a model file instead of one of the catalogue"));
    fields.push_back(WHOLE(model.hidden, 1, 65536, "width of the hidden layer (mlp, squares)"));
    fields.push_back(TEXT(model.weights, "safetensors to start from: a file, or a folder such as a checkpoint of Accelerate"));
    fields.push_back(SWITCH(model.partial_weights, "take the weights that fit, and tell the others"));
    fields.push_back(TEXT(model.output, "which part of what a TorchScript model returns: a key, or a place from 0"));
    fields.push_back(
        with_choices(CHOICE(dataset.name, "data set of the catalogue"), catalogue::dataset_ids()));
    fields.push_back(TEXT(dataset.file, "a data file of your own instead of one of the catalogue; what it is is told by its content"));
    fields.push_back(TEXT(dataset.labels, "its labels: a column, an array, or a file beside it; empty: found by name"));
    fields.push_back(make(AT(dataset.leave_out), "dataset.leave_out", FieldKind::TextList, "columns of a table that are no features"));
    fields.push_back(CHOICE(dataset.target, "what the labels of a file are"));
    fields.push_back(CHOICE(dataset.header, "whether the first line of a table names its columns"));
    fields.push_back(CHOICE(dataset.missing, "a value that isn't there: an error, its sample left out, or the training samples' mean"));
    fields.push_back(WHOLE(dataset.context, 1, 65536, "characters of a sample of text"));
    fields.push_back(CHOICE(dataset.normalise, "unit: the training samples' largest value is 1; standardise: each column has mean 0 and deviation 1; auto: bytes by 255"));
    fields.push_back(
        with_limits(SHARE(dataset.validation, "share held out for validation; 0 = none"), 0, 0.9));
    fields.push_back(WHOLE(dataset.split_seed, 0, 9.2e18, "seed of the split into training and validation"));
    fields.push_back(TEXT(device, "auto, cpu, cuda or cuda:N"));
    fields.push_back(with_choices(CHOICE(mixed_precision, "precision mode of the run"), mode_names()));
    fields.push_back(with_choices(
        make(AT(modes), "modes", FieldKind::Modes, "precision modes of a comparison"), mode_names()));
    fields.push_back(CHOICE(launch.scope, "where the run lives"));
    fields.push_back(WHOLE(launch.processes, 1, 4096, "processes that train together"));
    fields.push_back(WHOLE(launch.threads, 1, 1024, "threads inside an operation, equal in all modes"));
    fields.push_back(SWITCH(launch.sync_batch_norm, "training statistics of batch norm over all processes"));
    fields.push_back(WHOLE(launch.group_timeout_seconds, 1, 86400, "seconds that a rank waits for another one"));
    fields.push_back(CHOICE(launch.order, "how the runs of a comparison share the machine"));
}

void add_optimizer(std::vector<PlanField>& fields) {
    fields.push_back(with_choices(CHOICE(training.optimizer.name, "optimizer"), catalogue::optimizer_ids()));
    fields.push_back(
        CHOICE(training.optimizer.implementation, "exact repeats Python's bits; fused is faster"));
    fields.push_back(NUMBER(training.optimizer.learning_rate, 0, large, "learning rate"));
    fields.push_back(
        NUMBER(training.optimizer.weight_decay, 0, large, "weight decay; unset: adamw 0.01, else 0"));
    fields.push_back(NUMBER(training.optimizer.momentum, 0, large, "momentum (sgd)"));
    fields.push_back(NUMBER(training.optimizer.dampening, 0, 1, "dampening of the momentum (sgd)"));
    fields.push_back(SWITCH(training.optimizer.nesterov, "Nesterov's momentum (sgd)"));
    fields.push_back(SHARE(training.optimizer.beta1, "decay of the mean gradient (adam, adamw)"));
    fields.push_back(SHARE(training.optimizer.beta2, "decay of the mean square (adam, adamw)"));
    fields.push_back(
        NUMBER(training.optimizer.eps, 0, large, "added to the root of the mean square (adam, adamw)"));
    fields.push_back(SWITCH(training.optimizer.amsgrad, "keep the largest mean square (adam, adamw)"));
    fields.push_back(SWITCH(training.optimizer.maximize, "go up instead of down"));
    fields.push_back(SWITCH(training.optimizer.no_decay_on_norms_and_biases,
                            "weight decay spares the weights of norm layers and all biases"));
}

void add_scheduler(std::vector<PlanField>& fields) {
    fields.push_back(with_choices(CHOICE(training.scheduler.name, "schedule of the learning rate"),
                                  catalogue::scheduler_ids()));
    fields.push_back(WHOLE(training.scheduler.warmup_steps, 0, many,
                           "applied steps from 0 up to the learning rate (…_with_warmup)"));
    fields.push_back(WHOLE(training.scheduler.step_size, 1, many, "applied steps between two drops (step)"));
    fields.push_back(NUMBER(training.scheduler.gamma, 0, large, "factor of a drop (step)"));
    fields.push_back(
        with_limits(SHARE(training.scheduler.start_factor, "factor at the start (linear)"), 0, 1, true));
    fields.push_back(with_limits(SHARE(training.scheduler.end_factor, "factor at the end (linear)"), 0, 1));
    fields.push_back(
        WHOLE(training.scheduler.total_iters, 1, many, "applied steps to the end factor (linear)"));
    fields.push_back(WHOLE(training.scheduler.t_max, 1, many, "applied steps of half a wave (cosine)"));
    fields.push_back(NUMBER(training.scheduler.eta_min, 0, large, "lowest learning rate (cosine)"));
    fields.push_back(POSITIVE(training.scheduler.max_lr, large, "highest learning rate (one_cycle)"));
    fields.push_back(
        WHOLE(training.scheduler.total_steps, 0, many, "length of the schedule; 0 = the steps of the plan"));
    fields.push_back(with_limits(SHARE(training.scheduler.pct_start, "share of the cycle that rises"), 0, 1));
    fields.push_back(POSITIVE(training.scheduler.div_factor, large, "max_lr / first learning rate"));
    fields.push_back(POSITIVE(training.scheduler.final_div_factor, large, "first / last learning rate"));
    fields.push_back(
        with_choices(CHOICE(training.scheduler.anneal_strategy, "form of the cycle"), {"cos", "linear"}));
    fields.push_back(
        SWITCH(training.scheduler.cycle_momentum, "move the momentum against the learning rate"));
    fields.push_back(SWITCH(training.scheduler.three_phase, "a third phase of its own for the end"));
    fields.push_back(SHARE(training.scheduler.base_momentum, "lowest momentum (one_cycle)"));
    fields.push_back(SHARE(training.scheduler.max_momentum, "highest momentum (one_cycle)"));
    fields.push_back(POSITIVE(training.scheduler.num_cycles, many,
                              "waves after the warm-up; 0.5 goes down once (cosine_with_warmup)"));
}

void add_training(std::vector<PlanField>& fields) {
    fields.push_back(WHOLE(training.batch_size, 1, 1e6, "samples of a micro-batch"));
    fields.push_back(WHOLE(training.epochs, 1, 1e6, "passes over the training data"));
    fields.push_back(WHOLE(training.max_steps, 1, many, "attempts of the optimizer, skipped ones too"));
    fields.push_back(WHOLE(training.gradient_accumulation_steps, 1, 1e6, "micro-batches of a step"));
    fields.push_back(SWITCH(training.drop_last, "leave a last, short batch of an epoch out"));
    fields.push_back(SWITCH(training.split_batches, "ranks divide a batch of batch_size; else each has one of its own"));
    fields.push_back(SWITCH(training.even_batches, "ranks: fill a last, short batch from the start of the epoch"));
    add_optimizer(fields);
    add_scheduler(fields);
    fields.push_back(with_choices(CHOICE(training.loss, "loss"), catalogue::loss_ids()));
    fields.push_back(POSITIVE(training.loss_factor, large, "multiplies the loss before backward"));
    fields.push_back(POSITIVE(training.clip_grad_norm, large, "largest norm of the gradient"));
    fields.push_back(POSITIVE(training.clip_grad_value, large, "largest magnitude of a gradient's element"));
    fields.push_back(
        WHOLE(training.seed, 0, 9.2e18, "seed of initial weights, batch order and random streams"));
    fields.push_back(SWITCH(training.deterministic, "deterministic algorithms only"));
}

void add_numbers(std::vector<PlanField>& fields) {
    constexpr double highest_scale = 0x1p+127;  // above it 1/scale is subnormal in fp32
    fields.push_back(POSITIVE(loss_scale.initial, highest_scale, "loss scale at the start (fp16)"));
    fields.push_back(
        NUMBER(loss_scale.growth_factor, 1, large, "growth after growth_interval good steps; 1 = fixed"));
    fields.push_back(
        with_limits(SHARE(loss_scale.backoff_factor, "factor after an overflow; 1 = fixed"), 0, 1, true));
    fields.push_back(WHOLE(loss_scale.growth_interval, 1, many, "good steps before the scale grows"));
    fields.push_back(NUMBER(loss_scale.floor, 0, highest_scale, "the scale never falls below"));
    fields.push_back(WHOLE(evaluation.every, 0, many, "steps between evaluations; 0 = at the end only"));
    fields.push_back(CHOICE(evaluation.split, "data that is evaluated"));
    fields.push_back(with_choices(CHOICE(evaluation.metric, "what is measured"), catalogue::metric_ids()));
    fields.push_back(CHOICE(evaluation.precision, "outside autocast, inside, or both"));
    fields.push_back(
        make(AT(fp32_islands), "fp32_islands", FieldKind::TextList, "module paths that stay in fp32"));
    fields.push_back(CHOICE(on_nonfinite, "what a non-finite loss or gradient does"));
    fields.push_back(SWITCH(allow_emulated, "train in a mode that the device only emulates"));
    fields.push_back(CHOICE(cpu_half, "kernels of half precision on a CPU"));
    fields.push_back(CHOICE(tf32, "fp32 products of a GPU in ten bits of mantissa: off, on, or as LibTorch has it"));
    fields.push_back(CHOICE(batch_norm_on_skip, "running statistics after a skipped step"));
    fields.push_back(CHOICE(short_window, "weight of a short last accumulation window"));
    fields.push_back(CHOICE(compat, "accelerate: repeat upstream to the bit"));
    fields.push_back(WHOLE(observe.level, 0, 2, "tensor records: 0 none, 1 every observe.every_steps, 2 every step"));
    fields.push_back(WHOLE(observe.every_steps, 1, many, "steps between two tensor records (level 1)"));
    fields.push_back(WHOLE(observe.local_error_every, 0, many, "steps between two comparisons with fp32; 0 = never"));
    fields.push_back(SWITCH(observe.keep_states, "keep two states in memory, so that a bad step can be replayed"));
    fields.push_back(WHOLE(observe.keep_states_every, 1, many, "steps between the kept states"));
    fields.push_back(WHOLE(observe.keep_states_mib, 0, 1e9, "largest size of the kept states, in MiB"));
    fields.push_back(make(AT(observe.alarms), "observe.alarms", FieldKind::TextList,
                          "\"off\", or rules with another threshold, length or action than the default"));
    fields.push_back(WHOLE(repetitions.control, 0, 20, "runs of the control with another batch order (compare)"));
    fields.push_back(WHOLE(repetitions.rounding, 0, 20, "runs of the control nudged by one last bit (compare)"));
    fields.push_back(
        WHOLE(checkpoint.every, 0, many, "steps between checkpoints; 0 = none on the way"));
    fields.push_back(SWITCH(checkpoint.at_end, "keep the end state: weights to save, a run to go on from"));
    fields.push_back(WHOLE(checkpoint.keep, 2, 1e6, "checkpoints kept; the oldest go"));
    fields.push_back(TEXT(checkpoint.resume_from, "checkpoint folder or run to go on from"));
}

// Bounds are read by people: 1000000, not 1e+06.
std::string bound_text(double bound) {
    return std::trunc(bound) == bound ? std::to_string(static_cast<std::int64_t>(bound)) : to_text(bound);
}

std::string range_text(const PlanField& field) {
    const FieldLimits& limits = field.limits;
    const bool endless = limits.maximum >= many;
    std::string text = limits.above_minimum ? "above " : "from ";
    text += bound_text(limits.minimum);
    if (endless) return limits.above_minimum ? text : text + " up";
    if (limits.below_maximum) return text + " to below " + bound_text(limits.maximum);
    return text + (limits.above_minimum ? " and up to " : " to ") + bound_text(limits.maximum);
}

}  // namespace

const std::vector<PlanField>& plan_fields() {
    static const std::vector<PlanField> fields = [] {
        std::vector<PlanField> list;
        add_what_and_where(list);
        add_training(list);
        add_numbers(list);
        return list;
    }();
    return fields;
}

const PlanField* find_plan_field(std::string_view path) {
    for (const PlanField& field : plan_fields())
        if (field.path == path) return &field;
    return nullptr;
}

std::vector<std::string> plan_field_paths() {
    std::vector<std::string> paths;
    for (const PlanField& field : plan_fields()) paths.push_back(field.path);
    return paths;
}

std::string allowed_values(const PlanField& field) {
    std::string text;
    switch (field.kind) {
        case FieldKind::Text:
            text = "use a text";
            break;
        case FieldKind::Choice:
            text = "use one of: " + join_names(field.choices);
            break;
        case FieldKind::Integer:
            text = "use a whole number " + range_text(field);
            break;
        case FieldKind::Number:
            text = "use a number " + range_text(field);
            break;
        case FieldKind::Switch:
            text = "use true or false";
            break;
        case FieldKind::Modes:
            text = "use a list of modes out of: " + join_names(field.choices);
            break;
        case FieldKind::TextList:
            text = "use a list of texts";
            break;
    }
    return field.is_optional ? text + ", or null" : text;
}

std::string name_path_of_object(std::string_view path) {
    for (const char* object : {"model", "dataset", "training.optimizer", "training.scheduler"})
        if (path == object) return std::string(path) + ".name";
    return {};
}

Error unknown_field(std::string_view path) {
    const std::string shortened(path.substr(0, 80));
    const auto near = nearest_names(path, plan_field_paths());
    if (near.empty())
        return {ErrorCode::BadPlan, "unknown field \"" + shortened + "\"",
                "`mantissa models --fields` lists all fields"};
    return {ErrorCode::BadPlan, "unknown field \"" + shortened + "\"",
            "did you mean " + join_names(near) + "?"};
}

nlohmann::json value_from_text(const PlanField& field, std::string_view text) {
    const auto split = [&text] {
        // A list may also be written as in a plan file: ["gate"].
        Json written = Json::parse(text, nullptr, false);
        const auto is_plain = [](const Json& entry) { return entry.is_primitive(); };
        if (written.is_array() && std::all_of(written.begin(), written.end(), is_plain)) return written;
        Json list = Json::array();
        std::string_view rest = text;
        while (!rest.empty()) {
            const auto comma = rest.find(',');
            list.push_back(std::string(rest.substr(0, comma)));
            rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        }
        return list;
    };
    if (field.is_optional && (text == "null" || text == "none")) return nullptr;
    switch (field.kind) {
        case FieldKind::Text:
        case FieldKind::Choice:
            break;
        case FieldKind::Integer:
            if (const auto number = parse_int(text)) return *number;
            [[fallthrough]];
        case FieldKind::Number:
            if (const auto number = parse_double(text); number && std::isfinite(*number)) return *number;
            break;
        case FieldKind::Switch:
            if (text == "true" || text == "false") return text == "true";
            break;
        case FieldKind::Modes:
        case FieldKind::TextList:
            return split();
    }
    return std::string(text);
}

std::string value_to_text(const nlohmann::json& value) {
    if (value.is_null()) return "not set";
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return value.is_number_float() ? to_text(value.get<double>()) : value.dump();
    std::string text;
    for (const Json& entry : value) text += (text.empty() ? "" : ",") + value_to_text(entry);
    return text;
}

std::string field_text(const PlanField& field, const RunPlan& plan) {
    return value_to_text(field.get(plan));
}

}  // namespace mantissa
