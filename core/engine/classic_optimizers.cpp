#include "engine/classic_optimizers.h"

#include <array>
#include <cmath>

#include "engine/optimizer_parts.h"

namespace mantissa {
namespace {

using torch::Tensor;

struct Memory {
    std::array<Tensor, 3> tensors;  // made of zeros when a rule first asks
    double count = 0;
    float product = 1;  // NAdam keeps it as an fp32 tensor

    Tensor& at(std::size_t index, const Tensor& parameter, double start = 0) {
        if (!tensors[index].defined()) {
            tensors[index] = torch::full_like(parameter, start);
        }
        return tensors[index];
    }
};

// One parameter's update; the count is that of this update, and coupled weight decay is in the gradient.
using Rule = void (*)(const ClassicOptions&, const ParameterGroup&, Tensor&, const Tensor&, Memory&);

class ClassicCore : public OptimizerCore {
  public:
    ClassicCore(const char* name, Rule rule, std::vector<const char*> kept)
        : m_name(name), m_rule(rule), m_kept(std::move(kept)) {}
    void add(ClassicGroup group, double momentum) {
        const ClassicOptions& options = group.options;
        m_options.push_back(options);
        add_group({.parameters = std::move(group.parameters), .learning_rate = options.learning_rate, .momentum = momentum,
                   .weight_decay = options.weight_decay});
    }
    [[nodiscard]] const char* name() const override { return m_name; }
    [[nodiscard]] bool is_fused() const override { return false; }
    [[nodiscard]] std::int64_t state_bytes() const override {
        std::int64_t bytes = 0;
        for (const auto& group : m_memory) {
            for (const auto& memory : group) {
                for (const auto& tensor : memory.tensors) {
                    bytes += tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
                }
            }
        }
        return bytes;
    }
    void update() override {
        m_memory.resize(m_groups.size());
        for (std::size_t index = 0; index < m_groups.size(); ++index) {
            auto& group = m_groups[index];
            m_memory[index].resize(group.parameters.size());
            for (std::size_t i = 0; i < group.parameters.size(); ++i) {
                update_one(m_options[index], group, group.parameters[i], m_memory[index][i]);
            }
        }
    }

  protected:
    [[nodiscard]] std::vector<FactPlace> options(std::size_t group) override {
        ClassicOptions& own = m_options[group];
        return {{"decoupled_weight_decay", &own.decoupled_weight_decay}, {"maximize", &own.maximize}, {"eps", &own.eps},
                {"beta2", &own.beta2}, {"smoothing", &own.smoothing}, {"centered", &own.centered},
                {"momentum_decay", &own.momentum_decay}, {"learning_rate_decay", &own.learning_rate_decay},
                {"initial_accumulator", &own.initial_accumulator}};
    }
    [[nodiscard]] std::vector<Kept> kept(std::size_t group, std::size_t index) override {
        m_memory.resize(m_groups.size());
        m_memory[group].resize(m_groups[group].parameters.size());
        Memory& memory = m_memory[group][index];
        std::vector<Kept> all{{"step", &memory.count}, {"mu_product", &memory.product}};
        for (std::size_t i = 0; i < m_kept.size(); ++i) {
            all.push_back({m_kept[i], &memory.tensors[i]});
        }
        return all;
    }

  private:
    void update_one(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, Memory& memory) const {
        if (!parameter.grad().defined()) {
            return;
        }
        Tensor gradient = options.maximize ? parameter.grad().neg() : parameter.grad();
        memory.count += 1;
        if (group.weight_decay != 0) {
            if (options.decoupled_weight_decay) {
                parameter.mul_(1 - group.learning_rate * group.weight_decay);
            } else {
                gradient = gradient.add(parameter, group.weight_decay);
            }
        }
        m_rule(options, group, parameter, gradient, memory);
    }

    const char* m_name;
    std::vector<ClassicOptions> m_options;  // of each group
    Rule m_rule;
    std::vector<const char*> m_kept;  // Python's names of the tensors, in the order in which the rule uses them
    std::vector<std::vector<Memory>> m_memory;
};

void rmsprop_rule(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, const Tensor& gradient,
                  Memory& memory) {
    Tensor& square = memory.at(0, parameter);
    square.mul_(options.smoothing).addcmul_(gradient, gradient, 1 - options.smoothing);
    Tensor root;
    if (options.centered) {
        Tensor& average = memory.at(1, parameter);
        average.lerp_(gradient, 1 - options.smoothing);
        root = square.addcmul(average, average, -1).sqrt_();
    } else {
        root = square.sqrt();
    }
    root.add_(options.eps);
    if (group.momentum > 0) {
        Tensor& buffer = memory.at(2, parameter);
        buffer.mul_(group.momentum).addcdiv_(gradient, root);
        parameter.add_(buffer, -group.learning_rate);
    } else {
        parameter.addcdiv_(gradient, root, -group.learning_rate);
    }
}

void adagrad_rule(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, const Tensor& gradient,
                  Memory& memory) {
    Tensor& sum = memory.at(0, parameter, options.initial_accumulator);
    sum.addcmul_(gradient, gradient, 1);
    const double rate = group.learning_rate / (1 + (memory.count - 1) * options.learning_rate_decay);
    parameter.addcdiv_(gradient, sum.sqrt().add_(options.eps), -rate);
}

void adadelta_rule(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, const Tensor& gradient,
                   Memory& memory) {
    Tensor &square = memory.at(0, parameter), &moved = memory.at(1, parameter);
    square.mul_(options.smoothing).addcmul_(gradient, gradient, 1 - options.smoothing);
    const Tensor root = square.add(options.eps).sqrt_();
    const Tensor delta = moved.add(options.eps).sqrt_().div_(root).mul_(gradient);
    moved.mul_(options.smoothing).addcmul_(delta, delta, 1 - options.smoothing);
    parameter.add_(delta, -group.learning_rate);
}

void adamax_rule(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, const Tensor& gradient,
                 Memory& memory) {
    Tensor &average = memory.at(0, parameter), &largest = memory.at(1, parameter);
    average.lerp_(gradient, 1 - group.momentum);
    largest.mul_(options.beta2);
    at::maximum_out(largest, largest, gradient.abs().add_(options.eps));
    parameter.addcdiv_(average, largest, -(group.learning_rate / (1 - std::pow(group.momentum, memory.count))));
}

void nadam_rule(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, const Tensor& gradient,
                Memory& memory) {
    Tensor &average = memory.at(0, parameter), &square = memory.at(1, parameter);
    const double rate = group.learning_rate, beta1 = group.momentum;
    const auto mu_at = [&](double step) { return beta1 * (1.0 - 0.5 * std::pow(0.96, step * options.momentum_decay)); };
    const double correction2 = 1 - std::pow(options.beta2, memory.count);
    const double mu = mu_at(memory.count), mu_next = mu_at(memory.count + 1);
    memory.product *= static_cast<float>(mu);
    average.lerp_(gradient, 1 - beta1);
    square.mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
    const Tensor root = square.div(correction2).sqrt().add_(options.eps);
    const double product = memory.product, product_next = product * mu_next;
    parameter.addcdiv_(gradient, root, -rate * (1.0 - mu) / (1.0 - product));
    parameter.addcdiv_(average, root, (-rate * mu_next) / (1.0 - product_next));
}

void radam_rule(const ClassicOptions& options, const ParameterGroup& group, Tensor& parameter, const Tensor& gradient,
                Memory& memory) {
    Tensor &average = memory.at(0, parameter), &square = memory.at(1, parameter);
    const double beta1 = group.momentum, step = memory.count;
    average.lerp_(gradient, 1 - beta1);
    square.mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(options.beta2, step);
    const double rho_inf = 2 / (1 - options.beta2) - 1;
    const double rho = rho_inf - 2 * step * std::pow(options.beta2, step) / correction2;
    Tensor update = average.div(correction1).mul(group.learning_rate);
    if (rho > 5.0) {
        const double rectified =
            std::pow((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho), 0.5);
        // Python's `number / tensor` is reciprocal, then product.
        const Tensor adaptive = square.sqrt().add_(options.eps).reciprocal().mul(std::pow(correction2, 0.5));
        update = update.mul(adaptive).mul(rectified);
    }
    parameter.add_(update, -1.0);
}

// Where the rule keeps what a cycling scheduler moves: Adam's kind in beta1, RMSprop in momentum, the others nowhere.
enum class Cycled { Nothing, Momentum, Beta1 };

double cycled_value(Cycled cycled, const ClassicOptions& options) {
    switch (cycled) {
        case Cycled::Nothing: return 0;
        case Cycled::Momentum: return options.momentum;
        case Cycled::Beta1: return options.beta1;
    }
    return 0;
}

Optimizer make(const char* name, std::vector<ClassicGroup> groups, Cycled cycled, Rule rule,
               std::vector<const char*> kept) {
    check_groups(name, groups, [cycled](const ClassicOptions& options, const std::string& place) {
        const std::pair<const char*, double> values[] = {{"learning_rate", options.learning_rate}, {"eps", options.eps},
                                                         {"weight_decay", options.weight_decay},
                                                         {"momentum", cycled_value(cycled, options)}};
        for (const auto& [field, value] : values) {
            require(value >= 0, place, field, value, "use a number from 0 up");
        }
    });
    auto core = std::make_shared<ClassicCore>(name, rule, std::move(kept));
    for (auto& group : groups) {
        const double momentum = cycled_value(cycled, group.options);
        core->add(std::move(group), momentum);
    }
    return Optimizer(std::move(core));
}

}  // namespace

Optimizer rmsprop(std::vector<ClassicGroup> groups) {
    return make("rmsprop", std::move(groups), Cycled::Momentum, rmsprop_rule, {"square_avg", "grad_avg", "momentum_buffer"});
}
Optimizer rmsprop(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return rmsprop(std::vector<ClassicGroup>{{std::move(parameters), options}});
}
Optimizer adagrad(std::vector<ClassicGroup> groups) {
    return make("adagrad", std::move(groups), Cycled::Nothing, adagrad_rule, {"sum"});
}
Optimizer adagrad(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return adagrad(std::vector<ClassicGroup>{{std::move(parameters), options}});
}
Optimizer adadelta(std::vector<ClassicGroup> groups) {
    return make("adadelta", std::move(groups), Cycled::Nothing, adadelta_rule, {"square_avg", "acc_delta"});
}
Optimizer adadelta(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return adadelta(std::vector<ClassicGroup>{{std::move(parameters), options}});
}
Optimizer adamax(std::vector<ClassicGroup> groups) {
    return make("adamax", std::move(groups), Cycled::Beta1, adamax_rule, {"exp_avg", "exp_inf"});
}
Optimizer adamax(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return adamax(std::vector<ClassicGroup>{{std::move(parameters), options}});
}
Optimizer nadam(std::vector<ClassicGroup> groups) {
    return make("nadam", std::move(groups), Cycled::Beta1, nadam_rule, {"exp_avg", "exp_avg_sq"});
}
Optimizer nadam(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return nadam(std::vector<ClassicGroup>{{std::move(parameters), options}});
}
Optimizer radam(std::vector<ClassicGroup> groups) {
    return make("radam", std::move(groups), Cycled::Beta1, radam_rule, {"exp_avg", "exp_avg_sq"});
}
Optimizer radam(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return radam(std::vector<ClassicGroup>{{std::move(parameters), options}});
}

}  // namespace mantissa
