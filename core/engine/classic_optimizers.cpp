#include "engine/classic_optimizers.h"

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "engine/engine_error.h"

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
    ClassicCore(const char* name, const ClassicOptions& options, Rule rule, std::vector<const char*> kept)
        : m_name(name), m_options(options), m_rule(rule), m_kept(std::move(kept)) {}
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
                update_one(group, group.parameters[i], m_memory[index][i]);
            }
        }
    }

  protected:
    [[nodiscard]] std::vector<FactPlace> options() override {
        return {{"decoupled_weight_decay", &m_options.decoupled_weight_decay}, {"maximize", &m_options.maximize},
                {"eps", &m_options.eps}, {"beta2", &m_options.beta2}, {"smoothing", &m_options.smoothing},
                {"centered", &m_options.centered}, {"momentum_decay", &m_options.momentum_decay},
                {"learning_rate_decay", &m_options.learning_rate_decay},
                {"initial_accumulator", &m_options.initial_accumulator}};
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
    void update_one(const ParameterGroup& group, Tensor& parameter, Memory& memory) const {
        if (!parameter.grad().defined()) {
            return;
        }
        Tensor gradient = m_options.maximize ? parameter.grad().neg() : parameter.grad();
        memory.count += 1;
        if (group.weight_decay != 0) {
            if (m_options.decoupled_weight_decay) {
                parameter.mul_(1 - group.learning_rate * group.weight_decay);
            } else {
                gradient = gradient.add(parameter, group.weight_decay);
            }
        }
        m_rule(m_options, group, parameter, gradient, memory);
    }

    const char* m_name;
    ClassicOptions m_options;
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

Optimizer make(const char* name, std::vector<Tensor> parameters, const ClassicOptions& options, double momentum, Rule rule,
               std::vector<const char*> kept) {
    const std::pair<const char*, double> values[] = {{"learning_rate", options.learning_rate}, {"eps", options.eps},
                                                     {"weight_decay", options.weight_decay}, {"momentum", momentum}};
    for (const auto& [field, value] : values) {
        if (!(value >= 0)) {
            throw EngineError({ErrorCode::BadPlan, std::string(name) + ": " + field + " is " + to_text(value),
                               "use a number from 0 up"});
        }
    }
    auto core = std::make_shared<ClassicCore>(name, options, rule, std::move(kept));
    core->add_group({.parameters = std::move(parameters), .learning_rate = options.learning_rate, .momentum = momentum,
                     .weight_decay = options.weight_decay});
    return Optimizer(std::move(core));
}

}  // namespace

Optimizer rmsprop(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return make("rmsprop", std::move(parameters), options, options.momentum, rmsprop_rule, {"square_avg", "grad_avg", "momentum_buffer"});
}
Optimizer adagrad(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return make("adagrad", std::move(parameters), options, 0, adagrad_rule, {"sum"});
}
Optimizer adadelta(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return make("adadelta", std::move(parameters), options, 0, adadelta_rule, {"square_avg", "acc_delta"});
}
Optimizer adamax(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return make("adamax", std::move(parameters), options, options.beta1, adamax_rule, {"exp_avg", "exp_inf"});
}
Optimizer nadam(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return make("nadam", std::move(parameters), options, options.beta1, nadam_rule, {"exp_avg", "exp_avg_sq"});
}
Optimizer radam(std::vector<Tensor> parameters, const ClassicOptions& options) {
    return make("radam", std::move(parameters), options, options.beta1, radam_rule, {"exp_avg", "exp_avg_sq"});
}

}  // namespace mantissa
