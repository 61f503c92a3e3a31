#include "engine/engine_error.h"
#include "engine/optimizer.h"
#include "engine/optimizer_parts.h"

namespace mantissa {
namespace {

class SgdCore : public OptimizerCore {
  public:
    [[nodiscard]] const char* name() const override { return "sgd"; }
    [[nodiscard]] bool is_fused() const override {
        return m_options.front().implementation == OptimizerImplementation::Fused;
    }
    void add(SgdGroup group) {
        const SgdOptions& options = group.options;
        m_options.push_back(options);
        add_group({.parameters = std::move(group.parameters), .learning_rate = options.learning_rate,
                   .momentum = options.momentum, .weight_decay = options.weight_decay});
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
            if (is_fused()) {
                update_fused(m_options[index], m_groups[index], m_buffers[index]);
            } else {
                update_exact(m_options[index], m_groups[index], m_buffers[index]);
            }
        }
    }

  protected:
    [[nodiscard]] std::vector<FactPlace> options(std::size_t group) override {
        SgdOptions& own = m_options[group];
        return {{"dampening", &own.dampening}, {"nesterov", &own.nesterov}, {"maximize", &own.maximize}};
    }
    [[nodiscard]] std::vector<Kept> kept(std::size_t group, std::size_t index) override {
        m_buffers.resize(m_groups.size());
        m_buffers[group].resize(m_groups[group].parameters.size());
        return {{"momentum_buffer", &m_buffers[group][index]}};
    }

  private:
    static void update_exact(const SgdOptions& options, ParameterGroup& group, std::vector<torch::Tensor>& buffers) {
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
            torch::Tensor& parameter = group.parameters[i];
            if (!parameter.grad().defined()) {
                continue;
            }
            torch::Tensor gradient = options.maximize ? parameter.grad().neg() : parameter.grad();
            if (group.weight_decay != 0) {
                gradient = gradient.add(parameter, group.weight_decay);
            }
            if (group.momentum != 0) {
                torch::Tensor& buffer = buffers[i];
                if (buffer.defined()) {
                    buffer.mul_(group.momentum).add_(gradient, 1 - options.dampening);
                } else {
                    buffer = gradient.detach().clone();
                }
                gradient = options.nesterov ? gradient.add(buffer, group.momentum) : buffer;
            }
            parameter.add_(gradient, -group.learning_rate);
        }
    }

    // The kernel knows one "first step" for its whole list, so parameters with and without a buffer go in two calls.
    void update_fused(const SgdOptions& options, ParameterGroup& group, std::vector<torch::Tensor>& buffers) const {
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
                                group.momentum, group.learning_rate, options.dampening, options.nesterov,
                                options.maximize, first == 1, std::nullopt,
                                mask.defined() ? std::optional(mask) : std::nullopt);
            }
        }
    }

    std::vector<SgdOptions> m_options;  // of each group
    std::vector<std::vector<torch::Tensor>> m_buffers;
};

void check_sgd(const SgdOptions& options, const std::string& name) {
    require(options.learning_rate >= 0, name, "learning_rate", options.learning_rate, "use a number from 0 up");
    require(options.momentum >= 0, name, "momentum", options.momentum, "use a number from 0 up");
    require(options.weight_decay >= 0, name, "weight_decay", options.weight_decay, "use a number from 0 up");
    require(!options.nesterov || (options.momentum > 0 && options.dampening == 0), name, "momentum with nesterov",
            options.momentum, "nesterov needs a momentum above 0 and a dampening of 0");
}

}  // namespace

Optimizer sgd(std::vector<SgdGroup> groups) {
    check_groups("sgd", groups, check_sgd);
    auto core = std::make_shared<SgdCore>();
    for (auto& group : groups) {
        core->add(std::move(group));
    }
    return Optimizer(std::move(core));
}

Optimizer sgd(std::vector<torch::Tensor> parameters, const SgdOptions& options) {
    return sgd(std::vector<SgdGroup>{{std::move(parameters), options}});
}

}  // namespace mantissa
