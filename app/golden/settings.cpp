#include "settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "engine/classic_optimizers.h"
#include "engine/engine_error.h"

namespace mantissa::golden {
namespace {

OptimizerImplementation implementation(Arguments& arguments) {
    // foreach=True repeats the single-tensor path on a CPU, operation by operation, so both are `exact`.
    static_cast<void>(arguments.truth("foreach", false));
    arguments.only_default("capturable");
    arguments.only_default("differentiable");
    return arguments.truth("fused", false) ? OptimizerImplementation::Fused : OptimizerImplementation::Exact;
}

Optimizer make_sgd(Arguments& arguments, std::vector<torch::Tensor> parameters) {
    SgdOptions options;
    options.learning_rate = arguments.number("lr", 1e-3);
    options.momentum = arguments.number("momentum", 0);
    options.dampening = arguments.number("dampening", 0);
    options.weight_decay = arguments.number("weight_decay", 0);
    options.nesterov = arguments.truth("nesterov", false);
    options.maximize = arguments.truth("maximize", false);
    options.implementation = implementation(arguments);
    arguments.finish();
    return sgd(std::move(parameters), options);
}

Optimizer make_adam(Arguments& arguments, std::vector<torch::Tensor> parameters) {
    AdamOptions options;
    bool is_decoupled = arguments.name() == "AdamW";
    options.learning_rate = arguments.number("lr", 1e-3);
    const auto betas = arguments.numbers("betas", {0.9, 0.999});
    if (betas.size() != 2) arguments.refuse("'betas' are not two numbers");
    options.beta1 = betas[0];
    options.beta2 = betas[1];
    options.eps = arguments.number("eps", 1e-8);
    options.weight_decay = arguments.number("weight_decay", is_decoupled ? 0.01 : 0.0);
    options.amsgrad = arguments.truth("amsgrad", false);
    options.maximize = arguments.truth("maximize", false);
    if (!is_decoupled) is_decoupled = arguments.truth("decoupled_weight_decay", false);
    options.implementation = implementation(arguments);
    arguments.finish();
    return is_decoupled ? adamw(std::move(parameters), options) : adam(std::move(parameters), options);
}

struct Classic {
    const char* name;
    double learning_rate, eps;  // Python's defaults
    Optimizer (*make)(std::vector<torch::Tensor>, const ClassicOptions&);
};
constexpr Classic classics[] = {{"RMSprop", 1e-2, 1e-8, rmsprop}, {"Adagrad", 1e-2, 1e-10, adagrad},
                                {"Adadelta", 1.0, 1e-6, adadelta}, {"Adamax", 2e-3, 1e-8, adamax},
                                {"NAdam", 2e-3, 1e-8, nadam}, {"RAdam", 1e-3, 1e-8, radam}};

Optimizer make_classic(const Classic& kind, Arguments& arguments, std::vector<torch::Tensor> parameters) {
    const std::string& name = arguments.name();
    ClassicOptions options;
    options.learning_rate = arguments.number("lr", kind.learning_rate);
    options.eps = arguments.number("eps", kind.eps);
    options.weight_decay = arguments.number("weight_decay", 0);
    options.maximize = arguments.truth("maximize", false);
    for (const char* only : {"foreach", "capturable", "differentiable"}) arguments.only_default(only);
    if (name == "RMSprop") {
        options.smoothing = arguments.number("alpha", 0.99);
        options.momentum = arguments.number("momentum", 0);
        options.centered = arguments.truth("centered", false);
    } else if (name == "Adadelta") {
        options.smoothing = arguments.number("rho", 0.9);
    } else if (name == "Adagrad") {
        options.learning_rate_decay = arguments.number("lr_decay", 0);
        options.initial_accumulator = arguments.number("initial_accumulator_value", 0);
        arguments.only_default("fused");
    } else {
        const auto betas = arguments.numbers("betas", {0.9, 0.999});
        if (betas.size() != 2) arguments.refuse("'betas' are not two numbers");
        options.beta1 = betas[0];
        options.beta2 = betas[1];
        if (name != "Adamax") options.decoupled_weight_decay = arguments.truth("decoupled_weight_decay", false);
        if (name == "NAdam") options.momentum_decay = arguments.number("momentum_decay", 4e-3);
    }
    arguments.finish();
    return kind.make(std::move(parameters), options);
}

Scheduler make_one_cycle(Arguments& arguments, const Optimizer& optimizer) {
    OneCycleOptions options;
    options.max_lr = arguments.number("max_lr");
    options.total_steps = arguments.has("total_steps")
                              ? arguments.whole("total_steps")
                              : arguments.whole("epochs") * arguments.whole("steps_per_epoch");
    static_cast<void>(arguments.has("epochs"));  // given beside total_steps, Python doesn't look at them
    static_cast<void>(arguments.has("steps_per_epoch"));
    options.pct_start = arguments.number("pct_start", options.pct_start);
    const std::string strategy = arguments.text("anneal_strategy", "cos");
    if (strategy != "cos" && strategy != "linear") arguments.refuse("'anneal_strategy' is '" + strategy + "'");
    options.cosine = strategy == "cos";
    options.cycle_momentum = arguments.truth("cycle_momentum", options.cycle_momentum);
    options.base_momentum = arguments.number("base_momentum", options.base_momentum);
    options.max_momentum = arguments.number("max_momentum", options.max_momentum);
    options.div_factor = arguments.number("div_factor", options.div_factor);
    options.final_div_factor = arguments.number("final_div_factor", options.final_div_factor);
    options.three_phase = arguments.truth("three_phase", options.three_phase);
    arguments.finish();
    return one_cycle_lr(optimizer, options);
}

Scheduler make_cyclic(Arguments& arguments, const Optimizer& optimizer) {
    CyclicOptions options;
    options.base_lr = arguments.number("base_lr");
    options.max_lr = arguments.number("max_lr");
    options.step_size_up = arguments.whole("step_size_up", options.step_size_up);
    if (arguments.has("step_size_down")) options.step_size_down = arguments.whole("step_size_down");
    const std::string mode = arguments.text("mode", "triangular");
    if (mode == "triangular2") {
        options.shape = CyclicShape::Halving;
    } else if (mode == "exp_range") {
        options.shape = CyclicShape::Exponential;
    } else if (mode != "triangular") {
        arguments.refuse("'mode' is '" + mode + "'");
    }
    options.gamma = arguments.number("gamma", options.gamma);
    arguments.only_default("scale_fn");
    static_cast<void>(arguments.text("scale_mode", "cycle"));  // without a scale_fn the mode decides it
    options.cycle_momentum = arguments.truth("cycle_momentum", options.cycle_momentum);
    options.base_momentum = arguments.number("base_momentum", options.base_momentum);
    options.max_momentum = arguments.number("max_momentum", options.max_momentum);
    arguments.finish();
    return cyclic_lr(optimizer, options);
}

// Schedules in a list, each in the form of a scheduler of its own; by position or by name, as Python takes them.
Scheduler make_sequence(const nlohmann::json& description, const Optimizer& optimizer) {
    const nlohmann::json named = description.back().is_object() ? description.back() : nlohmann::json::object();
    const auto argument = [&](std::size_t position, const char* name) {
        const bool by_position = description.size() > position && !description[position].is_object();
        return by_position ? description[position] : named.value(name, nlohmann::json());
    };
    const nlohmann::json list = argument(1, "schedulers"), at = argument(2, "milestones");
    const bool is_whole = at.is_array() && std::all_of(at.begin(), at.end(), [](const auto& one) { return one.is_number_integer(); });
    if (!list.is_array() || !is_whole) {
        throw EngineError({ErrorCode::BadPlan, "scheduler SequentialLR: it takes a list 'schedulers' and a list 'milestones'", ""});
    }
    for (const auto& [name, value] : named.items()) {
        if (name != "schedulers" && name != "milestones") {
            throw EngineError({ErrorCode::BadPlan, "scheduler SequentialLR: the argument '" + name + "' is not known", ""});
        }
    }
    std::vector<Scheduler> schedulers;
    for (const auto& one : list) {
        schedulers.push_back(make_scheduler(one, optimizer));
    }
    return sequential_lr(optimizer, std::move(schedulers), at.get<std::vector<std::int64_t>>());
}

}  // namespace

Optimizer make_optimizer(const nlohmann::json& description, std::vector<torch::Tensor> parameters) {
    Arguments arguments(description, "optimizer");
    if (arguments.name() == "SGD") return make_sgd(arguments, std::move(parameters));
    if (arguments.name() == "Adam" || arguments.name() == "AdamW") return make_adam(arguments, std::move(parameters));
    for (const Classic& kind : classics) {
        if (arguments.name() == kind.name) return make_classic(kind, arguments, std::move(parameters));
    }
    arguments.refuse("this engine has SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam and RAdam");
}

Scheduler make_scheduler(const nlohmann::json& description, const Optimizer& optimizer) {
    Arguments arguments(description, "scheduler");
    if (arguments.name() == "SequentialLR") return make_sequence(description, optimizer);
    if (arguments.has("last_epoch") && arguments.whole("last_epoch") != -1) {
        arguments.refuse("'last_epoch' other than -1 is not repeated here");
    }
    const std::string& name = arguments.name();
    const auto made = [&](auto&& make, auto... values) {
        arguments.finish();
        return make(optimizer, values...);
    };
    if (name == "StepLR") return made(step_lr, arguments.whole("step_size"), arguments.number("gamma", 0.1));
    if (name == "MultiStepLR") {
        return made(multi_step_lr, arguments.wholes("milestones"), arguments.number("gamma", 0.1));
    }
    if (name == "ConstantLR") {
        return made(constant_lr, arguments.number("factor", 1.0 / 3), arguments.whole("total_iters", 5));
    }
    if (name == "LinearLR") {
        return made(linear_lr, arguments.number("start_factor", 1.0 / 3), arguments.number("end_factor", 1.0),
                    arguments.whole("total_iters", 5));
    }
    if (name == "ExponentialLR") return made(exponential_lr, arguments.number("gamma"));
    if (name == "PolynomialLR") {
        return made(polynomial_lr, arguments.whole("total_iters", 5), arguments.number("power", 1.0));
    }
    if (name == "CosineAnnealingLR") return made(cosine_lr, arguments.whole("T_max"), arguments.number("eta_min", 0));
    if (name == "CosineAnnealingWarmRestarts") {
        return made(cosine_restarts_lr, arguments.whole("T_0"), arguments.whole("T_mult", 1),
                    arguments.number("eta_min", 0));
    }
    // A trace can't hold LambdaLR's function; these are transformers' names for three of them.
    if (name == "get_constant_schedule_with_warmup") return made(constant_with_warmup, arguments.whole("num_warmup_steps"));
    if (name == "get_linear_schedule_with_warmup") {
        return made(linear_with_warmup, arguments.whole("num_warmup_steps"), arguments.whole("num_training_steps"));
    }
    if (name == "get_cosine_schedule_with_warmup") {
        return made(cosine_with_warmup, arguments.whole("num_warmup_steps"), arguments.whole("num_training_steps"),
                    arguments.number("num_cycles", 0.5));
    }
    if (name == "OneCycleLR") return make_one_cycle(arguments, optimizer);
    if (name == "CyclicLR") return make_cyclic(arguments, optimizer);
    arguments.refuse("this engine has StepLR, MultiStepLR, ConstantLR, LinearLR, ExponentialLR, PolynomialLR, "
                     "CosineAnnealingLR, CosineAnnealingWarmRestarts, OneCycleLR, CyclicLR, SequentialLR and transformers' "
                     "get_constant_, get_linear_ and get_cosine_schedule_with_warmup");
}

}  // namespace mantissa::golden
