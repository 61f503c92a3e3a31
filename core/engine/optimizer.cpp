#include "engine/optimizer.h"

#include <cmath>

#include "base/numbers.h"
#include "engine/engine_error.h"

namespace mantissa {
namespace {

void require(bool holds, const char* optimizer, const char* field, double value, const char* allowed) {
    if (!holds) {
        throw EngineError({ErrorCode::BadPlan,
                           std::string(optimizer) + ": " + field + " is " + to_text(value), allowed});
    }
}

struct Moments {
    torch::Tensor average, square, largest_square;
    torch::Tensor step;  // fused kernels want the count as a tensor
    double count = 0, step_count = 0;  // updates so far; what the tensor says
};

class SgdCore : public OptimizerCore {
  public:
    explicit SgdCore(const SgdOptions& options) : m_options(options) {}
    [[nodiscard]] const char* name() const override { return "sgd"; }
    [[nodiscard]] bool is_fused() const override {
        return m_options.implementation == OptimizerImplementation::Fused;
    }
    [[nodiscard]] std::int64_t state_bytes() const override {
        std::int64_t bytes = 0;
        for (const auto& group : m_buffers) {
            for (const auto& buffer : group) {
                bytes += buffer.defined() ? static_cast<std::int64_t>(buffer.nbytes()) : 0;
            }
        }
        return bytes;
    }
    void update() override {
        m_buffers.resize(m_groups.size());
        for (std::size_t index = 0; index < m_groups.size(); ++index) {
            m_buffers[index].resize(m_groups[index].parameters.size());
            if (m_options.implementation == OptimizerImplementation::Fused) {
                update_fused(m_groups[index], m_buffers[index]);
            } else {
                update_exact(m_groups[index], m_buffers[index]);
            }
        }
    }

  protected:
    [[nodiscard]] std::vector<FactPlace> options() override {
        return {{"dampening", &m_options.dampening}, {"nesterov", &m_options.nesterov}, {"maximize", &m_options.maximize}};
    }
    [[nodiscard]] std::vector<Kept> kept(std::size_t group, std::size_t index) override {
        m_buffers.resize(m_groups.size());
        m_buffers[group].resize(m_groups[group].parameters.size());
        return {{"momentum_buffer", &m_buffers[group][index]}};
    }

  private:
    void update_exact(ParameterGroup& group, std::vector<torch::Tensor>& buffers) {
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
            torch::Tensor& parameter = group.parameters[i];
            if (!parameter.grad().defined()) {
                continue;
            }
            torch::Tensor gradient = m_options.maximize ? parameter.grad().neg() : parameter.grad();
            if (group.weight_decay != 0) {
                gradient = gradient.add(parameter, group.weight_decay);
            }
            if (group.momentum != 0) {
                torch::Tensor& buffer = buffers[i];
                if (buffer.defined()) {
                    buffer.mul_(group.momentum).add_(gradient, 1 - m_options.dampening);
                } else {
                    buffer = gradient.detach().clone();
                }
                gradient = m_options.nesterov ? gradient.add(buffer, group.momentum) : buffer;
            }
            parameter.add_(gradient, -group.learning_rate);
        }
    }

    // The kernel knows one "first step" for its whole list, so parameters with and without a buffer go in two calls.
    void update_fused(ParameterGroup& group, std::vector<torch::Tensor>& buffers) {
        std::vector<torch::Tensor> parameters[2], gradients[2], momenta[2];
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
            const torch::Tensor& parameter = group.parameters[i];
            if (!parameter.grad().defined()) {
                continue;
            }
            const bool is_first = !buffers[i].defined();
            if (is_first && group.momentum != 0) {
                buffers[i] = torch::zeros_like(parameter);
            }
            parameters[is_first].push_back(parameter);
            gradients[is_first].push_back(parameter.grad());
            if (group.momentum != 0) {
                momenta[is_first].push_back(buffers[i]);
            }
        }
        for (const int first : {0, 1}) {
            if (!parameters[first].empty()) {
                at::_fused_sgd_(parameters[first], gradients[first], momenta[first], group.weight_decay,
                                group.momentum, group.learning_rate, m_options.dampening, m_options.nesterov,
                                m_options.maximize, first == 1);
            }
        }
    }

    SgdOptions m_options;
    std::vector<std::vector<torch::Tensor>> m_buffers;
};

class AdamCore : public OptimizerCore {
  public:
    AdamCore(const AdamOptions& options, bool is_decoupled) : m_options(options), m_is_decoupled(is_decoupled) {}
    [[nodiscard]] const char* name() const override { return m_is_decoupled ? "adamw" : "adam"; }
    [[nodiscard]] bool is_fused() const override {
        return m_options.implementation == OptimizerImplementation::Fused;
    }
    [[nodiscard]] std::int64_t state_bytes() const override {
        std::int64_t bytes = 0;
        for (const auto& group : m_moments) {
            for (const auto& one : group) {
                for (const auto* tensor : {&one.average, &one.square, &one.largest_square, &one.step}) {
                    bytes += tensor->defined() ? static_cast<std::int64_t>(tensor->nbytes()) : 0;
                }
            }
        }
        return bytes;
    }
    void update() override {
        m_moments.resize(m_groups.size());
        for (std::size_t index = 0; index < m_groups.size(); ++index) {
            m_moments[index].resize(m_groups[index].parameters.size());
            if (m_options.implementation == OptimizerImplementation::Fused) {
                update_fused(m_groups[index], m_moments[index]);
            } else {
                for (std::size_t i = 0; i < m_groups[index].parameters.size(); ++i) {
                    update_exact(m_groups[index], m_groups[index].parameters[i], m_moments[index][i]);
                }
            }
        }
    }

  protected:
    [[nodiscard]] std::vector<FactPlace> options() override {
        return {{"beta2", &m_options.beta2}, {"eps", &m_options.eps}, {"amsgrad", &m_options.amsgrad},
                {"maximize", &m_options.maximize}};
    }
    [[nodiscard]] std::vector<Kept> kept(std::size_t group, std::size_t index) override {
        m_moments.resize(m_groups.size());
        m_moments[group].resize(m_groups[group].parameters.size());
        Moments& moments = m_moments[group][index];
        return {{"exp_avg", &moments.average}, {"exp_avg_sq", &moments.square}, {"max_exp_avg_sq", &moments.largest_square},
                {"step", &moments.count}};
    }

  private:
    void make(Moments& moments, const torch::Tensor& parameter) const {
        const auto make_one = [&](torch::Tensor& tensor) {
            if (!tensor.defined()) {
                tensor = torch::zeros_like(parameter);
            }
        };
        make_one(moments.average);
        make_one(moments.square);
        if (m_options.amsgrad) {
            make_one(moments.largest_square);
        }
        // The number is what is saved; a count that a loaded state has changed makes the tensor anew.
        if (m_options.implementation == OptimizerImplementation::Fused &&
            (!moments.step.defined() || moments.step_count != moments.count)) {
            moments.step = torch::full({}, moments.count, torch::TensorOptions().dtype(at::kFloat).device(parameter.device()));
            moments.step_count = moments.count;
        }
    }

    void update_exact(const ParameterGroup& group, torch::Tensor& parameter, Moments& moments) const {
        if (!parameter.grad().defined()) {
            return;
        }
        make(moments, parameter);
        torch::Tensor gradient = m_options.maximize ? parameter.grad().neg() : parameter.grad();
        moments.count += 1;
        if (group.weight_decay != 0) {
            if (m_is_decoupled) {
                parameter.mul_(1 - group.learning_rate * group.weight_decay);
            } else {
                gradient = gradient.add(parameter, group.weight_decay);
            }
        }
        moments.average.lerp_(gradient, 1 - group.momentum);
        moments.square.mul_(m_options.beta2).addcmul_(gradient, gradient, 1 - m_options.beta2);
        const double correction1 = 1 - std::pow(group.momentum, moments.count);
        const double correction2 = 1 - std::pow(m_options.beta2, moments.count);
        const double step_size = group.learning_rate / correction1;
        const double correction2_root = std::pow(correction2, 0.5);
        if (m_options.amsgrad) {
            at::maximum_out(moments.largest_square, moments.largest_square, moments.square);
        }
        const torch::Tensor& square = m_options.amsgrad ? moments.largest_square : moments.square;
        parameter.addcdiv_(moments.average, square.sqrt().div_(correction2_root).add_(m_options.eps), -step_size);
    }

    void update_fused(ParameterGroup& group, std::vector<Moments>& moments) const {
        std::vector<torch::Tensor> parameters, gradients, averages, squares, largest, steps;
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
            const torch::Tensor& parameter = group.parameters[i];
            if (!parameter.grad().defined()) {
                continue;
            }
            make(moments[i], parameter);
            moments[i].step.add_(1);
            moments[i].step_count = ++moments[i].count;
            parameters.push_back(parameter);
            gradients.push_back(parameter.grad());
            averages.push_back(moments[i].average);
            squares.push_back(moments[i].square);
            steps.push_back(moments[i].step);
            if (m_options.amsgrad) {
                largest.push_back(moments[i].largest_square);
            }
        }
        if (parameters.empty()) {
            return;
        }
        const auto kernel = [&](auto&& call) {
            call(parameters, gradients, averages, squares, largest, steps, group.learning_rate, group.momentum,
                 m_options.beta2, group.weight_decay, m_options.eps, m_options.amsgrad, m_options.maximize);
        };
        if (m_is_decoupled) {
            kernel([](auto&&... all) { at::_fused_adamw_(all..., std::nullopt, std::nullopt); });
        } else {
            kernel([](auto&&... all) { at::_fused_adam_(all..., std::nullopt, std::nullopt); });
        }
    }

    AdamOptions m_options;
    bool m_is_decoupled;
    std::vector<std::vector<Moments>> m_moments;
};

Optimizer make_adam(std::vector<torch::Tensor> parameters, const AdamOptions& options, bool is_decoupled) {
    const char* name = is_decoupled ? "adamw" : "adam";
    require(options.learning_rate >= 0, name, "learning_rate", options.learning_rate, "use a number from 0 up");
    require(options.beta1 >= 0 && options.beta1 < 1, name, "beta1", options.beta1, "use a number from 0 to below 1");
    require(options.beta2 >= 0 && options.beta2 < 1, name, "beta2", options.beta2, "use a number from 0 to below 1");
    require(options.eps >= 0, name, "eps", options.eps, "use a number from 0 up");
    require(options.weight_decay >= 0, name, "weight_decay", options.weight_decay, "use a number from 0 up");
    auto core = std::make_shared<AdamCore>(options, is_decoupled);
    core->add_group({.parameters = std::move(parameters), .learning_rate = options.learning_rate,
                     .momentum = options.beta1, .weight_decay = options.weight_decay});
    return Optimizer(std::move(core));
}

}  // namespace

void OptimizerCore::add_group(ParameterGroup group) {
    if (group.parameters.empty()) {
        throw EngineError({ErrorCode::BadPlan, "an optimizer got no parameters", "give it the model's parameters()"});
    }
    group.initial_learning_rate = group.learning_rate;
    m_groups.push_back(std::move(group));
}

void OptimizerCore::zero_grad() {
    for (auto& group : m_groups) {
        for (auto& parameter : group.parameters) {
            parameter.mutable_grad().reset();
        }
    }
}

std::vector<torch::Tensor> OptimizerCore::gradients() const {
    std::vector<torch::Tensor> found;
    for (const auto& group : m_groups) {
        for (const auto& parameter : group.parameters) {
            if (parameter.grad().defined()) {
                found.push_back(parameter.grad());
            }
        }
    }
    return found;
}

const std::shared_ptr<OptimizerCore>& Optimizer::core() const {
    if (!m_core) {
        throw EngineError({ErrorCode::BadPlan, "this optimizer was moved into prepare()",
                           "go on with the one that prepare() returned"});
    }
    return m_core;
}

Optimizer sgd(std::vector<torch::Tensor> parameters, const SgdOptions& options) {
    require(options.learning_rate >= 0, "sgd", "learning_rate", options.learning_rate, "use a number from 0 up");
    require(options.momentum >= 0, "sgd", "momentum", options.momentum, "use a number from 0 up");
    require(options.weight_decay >= 0, "sgd", "weight_decay", options.weight_decay, "use a number from 0 up");
    require(!options.nesterov || (options.momentum > 0 && options.dampening == 0), "sgd", "momentum with nesterov",
            options.momentum, "nesterov needs a momentum above 0 and a dampening of 0");
    auto core = std::make_shared<SgdCore>(options);
    core->add_group({.parameters = std::move(parameters), .learning_rate = options.learning_rate,
                     .momentum = options.momentum, .weight_decay = options.weight_decay});
    return Optimizer(std::move(core));
}

Optimizer adam(std::vector<torch::Tensor> parameters, const AdamOptions& options) {
    return make_adam(std::move(parameters), options, false);
}

Optimizer adamw(std::vector<torch::Tensor> parameters, const AdamOptions& options) {
    return make_adam(std::move(parameters), options, true);
}

Optimizer make_optimizer(const OptimizerPlan& plan, std::vector<torch::Tensor> parameters) {
    if (plan.name == "sgd") {
        return sgd(std::move(parameters),
                   {.learning_rate = plan.learning_rate, .momentum = plan.momentum, .dampening = plan.dampening,
                    .weight_decay = plan.weight_decay.value_or(0), .nesterov = plan.nesterov,
                    .maximize = plan.maximize, .implementation = plan.implementation});
    }
    const bool is_decoupled = plan.name == "adamw";
    if (!is_decoupled && plan.name != "adam") {
        throw EngineError({ErrorCode::BadPlan, "training.optimizer.name is '" + plan.name + "'", "use sgd, adam or adamw"});
    }
    return make_adam(std::move(parameters),
                     {.learning_rate = plan.learning_rate, .beta1 = plan.beta1, .beta2 = plan.beta2, .eps = plan.eps,
                      .weight_decay = plan.weight_decay.value_or(is_decoupled ? 0.01 : 0.0), .amsgrad = plan.amsgrad,
                      .maximize = plan.maximize, .implementation = plan.implementation},
                     is_decoupled);
}

}  // namespace mantissa
