#include <cmath>

#include "engine/engine_error.h"
#include "engine/optimizer.h"
#include "engine/optimizer_parts.h"

namespace mantissa {
namespace {

struct Moments {
    torch::Tensor average, square, largest_square;
    torch::Tensor step;  // fused kernels want the count as a tensor
    double count = 0, step_count = 0;  // updates so far; what the tensor says
};

class AdamCore : public OptimizerCore {
  public:
    explicit AdamCore(bool is_decoupled) : m_is_decoupled(is_decoupled) {}
    [[nodiscard]] const char* name() const override { return m_is_decoupled ? "adamw" : "adam"; }
    [[nodiscard]] bool is_fused() const override {
        return m_options.front().implementation == OptimizerImplementation::Fused;
    }
    void add(AdamGroup group) {
        const AdamOptions& options = group.options;
        m_options.push_back(options);
        add_group({.parameters = std::move(group.parameters), .learning_rate = options.learning_rate,
                   .momentum = options.beta1, .weight_decay = options.weight_decay});
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
            if (is_fused()) {
                update_fused(m_options[index], m_groups[index], m_moments[index]);
                continue;
            }
            for (std::size_t i = 0; i < m_groups[index].parameters.size(); ++i) {
                update_exact(m_options[index], m_groups[index], m_groups[index].parameters[i], m_moments[index][i]);
            }
        }
    }

    void recount() override {
        for (auto& group : m_moments) {
            for (Moments& moments : group) {
                if (moments.step.defined()) moments.count = moments.step_count = moments.step.item<double>();
            }
        }
    }

  protected:
    [[nodiscard]] std::vector<FactPlace> options(std::size_t group) override {
        AdamOptions& own = m_options[group];
        return {{"beta2", &own.beta2}, {"eps", &own.eps}, {"amsgrad", &own.amsgrad}, {"maximize", &own.maximize}};
    }
    [[nodiscard]] std::vector<Kept> kept(std::size_t group, std::size_t index) override {
        m_moments.resize(m_groups.size());
        m_moments[group].resize(m_groups[group].parameters.size());
        Moments& moments = m_moments[group][index];
        return {{"exp_avg", &moments.average}, {"exp_avg_sq", &moments.square}, {"max_exp_avg_sq", &moments.largest_square},
                {"step", &moments.count}};
    }

  private:
    static void make(const AdamOptions& options, Moments& moments, const torch::Tensor& parameter) {
        const auto make_one = [&](torch::Tensor& tensor) {
            if (!tensor.defined()) {
                tensor = torch::zeros_like(parameter);
            }
        };
        make_one(moments.average);
        make_one(moments.square);
        if (options.amsgrad) {
            make_one(moments.largest_square);
        }
        // The number is what is saved; a count that a loaded state has changed makes the tensor anew.
        if (options.implementation == OptimizerImplementation::Fused &&
            (!moments.step.defined() || moments.step_count != moments.count)) {
            moments.step = torch::full({}, moments.count, torch::TensorOptions().dtype(at::kFloat).device(parameter.device()));
            moments.step_count = moments.count;
        }
    }

    void update_exact(const AdamOptions& options, const ParameterGroup& group, torch::Tensor& parameter,
                      Moments& moments) const {
        if (!parameter.grad().defined()) {
            return;
        }
        make(options, moments, parameter);
        torch::Tensor gradient = options.maximize ? parameter.grad().neg() : parameter.grad();
        moments.count += 1;
        if (group.weight_decay != 0) {
            if (m_is_decoupled) {
                parameter.mul_(1 - group.learning_rate * group.weight_decay);
            } else {
                gradient = gradient.add(parameter, group.weight_decay);
            }
        }
        moments.average.lerp_(gradient, 1 - group.momentum);
        moments.square.mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
        const double correction1 = 1 - std::pow(group.momentum, moments.count);
        const double correction2 = 1 - std::pow(options.beta2, moments.count);
        const double step_size = group.learning_rate / correction1;
        const double correction2_root = std::pow(correction2, 0.5);
        if (options.amsgrad) {
            at::maximum_out(moments.largest_square, moments.largest_square, moments.square);
        }
        const torch::Tensor& square = options.amsgrad ? moments.largest_square : moments.square;
        parameter.addcdiv_(moments.average, square.sqrt().div_(correction2_root).add_(options.eps), -step_size);
    }

    void update_fused(const AdamOptions& options, ParameterGroup& group, std::vector<Moments>& moments) const {
        std::vector<torch::Tensor> parameters, gradients, averages, squares, largest, steps;
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
            const torch::Tensor& parameter = group.parameters[i];
            if (!parameter.grad().defined()) {
                continue;
            }
            make(options, moments[i], parameter);
            moments[i].step.add_(1);
            moments[i].step_count = ++moments[i].count;
            parameters.push_back(parameter);
            gradients.push_back(parameter.grad());
            averages.push_back(moments[i].average);
            squares.push_back(moments[i].square);
            steps.push_back(moments[i].step);
            if (options.amsgrad) {
                largest.push_back(moments[i].largest_square);
            }
        }
        if (parameters.empty()) {
            return;
        }
        const auto kernel = [&](auto&& call) {
            call(parameters, gradients, averages, squares, largest, steps, group.learning_rate, group.momentum,
                 options.beta2, group.weight_decay, options.eps, options.amsgrad, options.maximize);
        };
        const std::optional<torch::Tensor> found = mask.defined() ? std::optional(mask) : std::nullopt;
        if (m_is_decoupled) {
            kernel([&found](auto&&... all) { at::_fused_adamw_(all..., std::nullopt, found); });
        } else {
            kernel([&found](auto&&... all) { at::_fused_adam_(all..., std::nullopt, found); });
        }
        if (mask.defined()) at::_foreach_sub_(steps, std::vector<torch::Tensor>(steps.size(), mask));  // a masked update is none
    }

    std::vector<AdamOptions> m_options;  // of each group
    bool m_is_decoupled;
    std::vector<std::vector<Moments>> m_moments;
};

void check_adam(const AdamOptions& options, const std::string& name) {
    const char* below_one = "use a number from 0 to below 1";
    require(options.learning_rate >= 0, name, "learning_rate", options.learning_rate, "use a number from 0 up");
    require(options.beta1 >= 0 && options.beta1 < 1, name, "beta1", options.beta1, below_one);
    require(options.beta2 >= 0 && options.beta2 < 1, name, "beta2", options.beta2, below_one);
    require(options.eps >= 0, name, "eps", options.eps, "use a number from 0 up");
    require(options.weight_decay >= 0, name, "weight_decay", options.weight_decay, "use a number from 0 up");
}

Optimizer make_adam(std::vector<AdamGroup> groups, bool is_decoupled) {
    check_groups(is_decoupled ? "adamw" : "adam", groups, check_adam);
    auto core = std::make_shared<AdamCore>(is_decoupled);
    for (auto& group : groups) {
        core->add(std::move(group));
    }
    return Optimizer(std::move(core));
}

}  // namespace

Optimizer adam(std::vector<AdamGroup> groups) { return make_adam(std::move(groups), false); }

Optimizer adamw(std::vector<AdamGroup> groups) { return make_adam(std::move(groups), true); }

Optimizer adam(std::vector<torch::Tensor> parameters, const AdamOptions& options) {
    return make_adam({{std::move(parameters), options}}, false);
}

Optimizer adamw(std::vector<torch::Tensor> parameters, const AdamOptions& options) {
    return make_adam({{std::move(parameters), options}}, true);
}

}  // namespace mantissa
