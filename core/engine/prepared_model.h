#pragma once
// A model after prepare(): its forward runs under the Accelerator's autocast and returns fp32. Nothing else of it is wrapped: other
// methods are reached by unwrap(), where they run without autocast (put accelerator.autocast() around them if wanted). `model->`
// gives the prepared model itself, so that model->forward(x) never leaves the mode unnoticed.
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/accelerator_core.h"
#include "engine/fp32_output.h"
#include "engine/misuse.h"

namespace mantissa {

/// `Holder` is a torch module holder or a shared_ptr. Handles share the Accelerator's state: copies are the same prepared model.
template <typename Holder>
class PreparedModel {
  public:
    PreparedModel(std::shared_ptr<AcceleratorCore> accelerator, Holder model, const PreparedObjects::ModelUse& use)
        : m_accelerator(std::move(accelerator)), m_model(std::move(model)), m_state(m_accelerator->prepared.add(module(), use)) {}
    // A move is a copy: what was moved from stays usable.
    PreparedModel(const PreparedModel&) = default;
    PreparedModel& operator=(const PreparedModel&) = default;
    ~PreparedModel() = default;

    /// Also inside an fp32 island the forward of a prepared model is in the mode; unwrap() is fp32.
    template <typename... Arguments>
    auto operator()(Arguments&&... arguments) {
        if (!m_state) misuse::refuse_released("a model");
        const AcceleratorCore& core = *m_accelerator;
        m_accelerator->before_forward(*m_state);
        int position = 0;
        (check(core, arguments, ++position), ...);
        using Output = std::remove_cvref_t<decltype(m_model->forward(std::forward<Arguments>(arguments)...))>;
        try {
            const ForwardScope scope = core.forward_scope(*m_state);
            if constexpr (std::is_void_v<Output>) {
                m_model->forward(std::forward<Arguments>(arguments)...);
            } else {
                Output output = m_model->forward(std::forward<Arguments>(arguments)...);
                return core.options.keep_half_outputs ? output : Fp32Output<Output>::of(std::move(output));
            }
        } catch (const c10::Error& error) {
            misuse::explain_forward_error(error, *m_state);
            throw;
        }
    }
    template <typename... Arguments>
    auto forward(Arguments&&... arguments) {
        return (*this)(std::forward<Arguments>(arguments)...);
    }
    PreparedModel* operator->() { return this; }

    /// The model itself: fp32 weights, no autocast, no conversion. For saving, for its other methods and for evaluation in fp32.
    [[nodiscard]] Holder& unwrap() {
        if (!m_state) misuse::refuse_released("a model");
        return m_model;
    }
    void train(bool on = true) { unwrap()->train(on); }
    void eval() { unwrap()->eval(); }
    [[nodiscard]] std::vector<torch::Tensor> parameters() const { return m_model->parameters(); }
    [[nodiscard]] bool belongs_to(const AcceleratorCore& core) const { return m_accelerator.get() == &core; }
    /// For free_memory: this handle lets go of the model.
    void release() {
        m_state.reset();
        m_model = nullptr;
    }

  private:
    [[nodiscard]] std::shared_ptr<torch::nn::Module> module() const {
        if constexpr (requires { m_model.ptr(); }) {
            return m_model.ptr();
        } else {
            return m_model;
        }
    }
    template <typename Argument>
    void check(const AcceleratorCore& core, const Argument& argument, int position) const {
        if constexpr (std::is_base_of_v<torch::Tensor, Argument>) {
            core.check_argument(argument, position, *m_state);
        } else if constexpr (std::is_same_v<Argument, std::vector<torch::Tensor>>) {
            for (const torch::Tensor& one : argument) core.check_argument(one, position, *m_state);
        }
    }

    std::shared_ptr<AcceleratorCore> m_accelerator;
    Holder m_model;
    std::shared_ptr<PreparedModelState> m_state;
};

}  // namespace mantissa
