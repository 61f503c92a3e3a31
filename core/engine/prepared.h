#pragma once
// What prepare() returns. Handles share the Accelerator's state, so they may outlive it and move freely.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/accelerator_core.h"
#include "engine/autocast_scope.h"
#include "engine/prepared_loader.h"
#include "engine/scheduler.h"

namespace mantissa {

// fp16 and bf16 tensors in an output become fp32, also in vectors, maps, pairs, tuples and optionals; fp64, integers and everything else
// stay as they are.
[[nodiscard]] torch::Tensor to_fp32_output(torch::Tensor output);
template <typename T>
[[nodiscard]] T to_fp32_output(T output) {
    return output;
}
template <typename T>
[[nodiscard]] std::vector<T> to_fp32_output(std::vector<T> output) {
    for (auto& one : output) one = to_fp32_output(std::move(one));
    return output;
}
template <typename K, typename T>
[[nodiscard]] std::map<K, T> to_fp32_output(std::map<K, T> output) {
    for (auto& [key, one] : output) one = to_fp32_output(std::move(one));
    return output;
}
template <typename T>
[[nodiscard]] std::optional<T> to_fp32_output(std::optional<T> output) {
    if (output) output = to_fp32_output(std::move(*output));
    return output;
}
template <typename... T>
[[nodiscard]] std::tuple<T...> to_fp32_output(std::tuple<T...> output) {
    return std::apply([](T&... one) { return std::tuple<T...>(to_fp32_output(std::move(one))...); }, output);
}

/// A model whose forward runs under the Accelerator's autocast and returns fp32. `Holder` is a torch module holder or a shared_ptr.
template <typename Holder>
class PreparedModel {
  public:
    PreparedModel(std::shared_ptr<AcceleratorCore> accelerator, Holder model)
        : m_accelerator(std::move(accelerator)), m_model(std::move(model)), m_state(m_accelerator->add(module())) {}

    template <typename... Arguments>
    auto operator()(Arguments&&... arguments) {
        m_accelerator->before_forward(*m_state, first_tensor(arguments...));
        if (m_accelerator->precision == Precision::No) {
            return to_fp32_output(m_model->forward(std::forward<Arguments>(arguments)...));
        }
        const AutocastScope scope(m_accelerator->device.type(), autocast_dtype(m_accelerator->precision), true,
                                  m_accelerator->options.autocast_cache);
        return to_fp32_output(m_model->forward(std::forward<Arguments>(arguments)...));
    }

    /// The model itself: fp32 weights, no autocast, no conversion. For saving and for evaluation in fp32.
    [[nodiscard]] Holder& unwrap() { return m_model; }
    void train(bool on = true) { m_model->train(on); }
    void eval() { m_model->eval(); }
    [[nodiscard]] std::vector<torch::Tensor> parameters() const { return m_model->parameters(); }

  private:
    [[nodiscard]] std::shared_ptr<torch::nn::Module> module() const {
        if constexpr (requires { m_model.ptr(); }) {
            return m_model.ptr();
        } else {
            return m_model;
        }
    }
    template <typename First, typename... Rest>
    [[nodiscard]] static const torch::Tensor* first_tensor(const First& first, const Rest&...) {
        if constexpr (std::is_same_v<First, torch::Tensor>) {
            return &first;
        } else {
            return nullptr;
        }
    }

    std::shared_ptr<AcceleratorCore> m_accelerator;
    Holder m_model;
    std::shared_ptr<PreparedModelState> m_state;
};

class PreparedOptimizer {
  public:
    PreparedOptimizer(std::shared_ptr<AcceleratorCore> accelerator, std::shared_ptr<OptimizerCore> optimizer);

    /// Nothing between syncs. Skips on overflow; throws NonFinite before any weight moves, as `on_nonfinite` says.
    void step();
    /// Nothing between syncs.
    void zero_grad();
    /// Of the last syncing step.
    [[nodiscard]] bool step_was_skipped() const { return m_state->skipped; }
    [[nodiscard]] double learning_rate() const { return m_state->core->groups().at(0).learning_rate; }
    [[nodiscard]] OptimizerCore& core() const { return *m_state->core; }
    [[nodiscard]] PreparedOptimizerState& state() const { return *m_state; }

  private:
    std::shared_ptr<AcceleratorCore> m_accelerator;
    std::shared_ptr<PreparedOptimizerState> m_state;
};

class PreparedScheduler {
  public:
    PreparedScheduler(std::shared_ptr<AcceleratorCore> accelerator, std::shared_ptr<SchedulerCore> scheduler)
        : m_accelerator(std::move(accelerator)), m_core(std::move(scheduler)) {}

    /// Held between syncs and when an optimizer it is bound to skipped.
    void step();
    void step(double metric);  // reduce_on_plateau
    [[nodiscard]] double learning_rate() const { return m_core->optimizer()->groups().at(0).learning_rate; }

  private:
    void step_with(std::optional<double> metric);

    std::shared_ptr<AcceleratorCore> m_accelerator;
    std::shared_ptr<SchedulerCore> m_core;
};

}  // namespace mantissa
