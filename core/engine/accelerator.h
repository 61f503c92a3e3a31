#pragma once
// The one entrance for device and precision (design §6). Semantics of Accelerate 1.15 without its defects D1–D11; a mode is fixed
// for the life of a process, all other state belongs to the object. Thread: the one that trains.
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/model_files.h"
#include "engine/prepared.h"
#include "engine/processes.h"
#include "engine/profile_scope.h"

namespace mantissa {

template <typename T>
concept PreparableModel = requires(T model) {
    model->parameters();
    model->buffers();
    model->train(true);
};

class Accelerator : public ProcessCalls {  // processes, gather, trigger, set_seed: processes.h
  public:
    explicit Accelerator(const AcceleratorOptions& options = {});

    /// Takes raw objects by move, any number and order, and returns prepared ones as a tuple in the order of the arguments; one
    /// argument comes back bare. Prepared and unknown objects pass through.
    template <typename... Raw>
    auto prepare(Raw&&... raw) {
        static_assert(sizeof...(Raw) > 0, "prepare() needs at least one object");
        static_assert((!std::is_lvalue_reference_v<Raw> && ...),
                      "prepare() takes over its objects: pass them with std::move() and go on with what it returns");
        if constexpr (sizeof...(Raw) == 1) {
            return prepare_one(std::forward<Raw>(raw)...);
        } else {
            return std::tuple<decltype(prepare_one(std::forward<Raw>(raw)))...>{prepare_one(std::forward<Raw>(raw))...};
        }
    }

    /// Around forward and loss only. Restores what was before on every way out.
    [[nodiscard]] AutocastScope autocast() const;
    /// An fp32 island, also inside autocast().
    [[nodiscard]] AutocastScope fp32_island() const { return AutocastScope::fp32_island(m_core->device.type()); }

    /// Start of a micro-batch: decides whether this one ends an accumulation window.
    void accumulate() { m_core->enter_micro_batch(); }
    [[nodiscard]] bool sync_gradients() const { return m_core->sync_gradients; }
    /// For loops without a prepared loader.
    void set_end_of_data(bool is_last_batch) { m_core->active_loaders->set_end_of_data(is_last_batch); }

    /// Divides by the accumulation steps, scales, once. `loss_factor` multiplies the loss inside; facts keep the plain one.
    void backward(const torch::Tensor& loss, double loss_factor = 1.0) { m_core->backward(loss, loss_factor); }

    /// After unscaling; only at a sync, else nothing is done and nothing returned. The norm is that before clipping.
    std::optional<double> clip_grad_norm(const std::vector<torch::Tensor>& parameters, double max_norm);
    void clip_grad_value(const std::vector<torch::Tensor>& parameters, double limit);
    void unscale_gradients() { m_core->end_window_of_all(); }

    [[nodiscard]] bool optimizer_step_was_skipped() const { return m_core->any_skipped(); }
    /// Facts of the last attempt (complete after the last prepared optimizer stepped, or threw NonFinite).
    [[nodiscard]] const StepFacts& last_step() const { return m_core->facts; }

    [[nodiscard]] Precision mixed_precision() const { return m_core->precision; }
    [[nodiscard]] const std::string& mixed_precision_source() const { return m_core->precision_source; }
    [[nodiscard]] torch::Device device() const { return m_core->device; }
    [[nodiscard]] std::int64_t gradient_accumulation_steps() const { return m_core->accumulation_steps; }
    /// Empty without a scaler (no, bf16).
    [[nodiscard]] std::optional<LossScaleSchedule::State> loss_scale_state() const;
    void restore_loss_scale(const LossScaleSchedule::State& state);

    // --- trackers (AcceleratorOptions::log_with): on the main process only; every attempt is told to them without a call
    /// Starts them all; an own tracker's error, or a second start, is an EngineError.
    void init_trackers(const std::string& project, const TrackerConfig& config = {});
    void log(const TrackedValues& values, std::optional<std::int64_t> step = {});
    [[nodiscard]] Tracker& get_tracker(const std::string& name);
    void end_training();
    /// Traces every operation into a Chrome trace file until the returned scope ends (engine/profile_scope.h).
    [[nodiscard]] std::unique_ptr<ProfileScope> profile(const std::filesystem::path& file, const ProfileOptions& options = {}) const;

    template <typename Holder>
    [[nodiscard]] Holder& unwrap(PreparedModel<Holder>& model) const {
        return model.unwrap();
    }

    // --- checkpoints
    /// At any point between two calls, also in the middle of a window. Without a folder: PROJECT/checkpoints/checkpoint_N, of which
    /// total_limit stay. Atomic; an existing target is an error. Every process calls it; the main one writes what is shared.
    std::filesystem::path save_state(const std::filesystem::path& folder = {});
    /// Without a folder the checkpoint of the highest number. Everything is read and checked before anything changes; what goes on
    /// is, on a CPU, what would have come without the stop. Loss scale across modes: plan/resume_rule.h, told in the notices.
    LoadedState load_state(const std::filesystem::path& folder = {});
    void register_for_checkpointing(std::shared_ptr<Stateful> object);
    HookHandle register_save_state_pre_hook(StateHook hook) { return m_core->saved_states.save_hooks.add(std::move(hook)); }
    HookHandle register_load_state_pre_hook(StateHook hook) { return m_core->saved_states.load_hooks.add(std::move(hook)); }
    /// Bare names, fp32: the weights that the optimizer moves.
    template <typename Model>
    [[nodiscard]] NamedTensors get_state_dict(Model& model) const {
        return weights_of(*model.unwrap());
    }
    template <typename Model>
    std::vector<std::filesystem::path> save_model(Model& model, const std::filesystem::path& folder, const SaveModelOptions& options = {}) {
        return save_weights_once(get_state_dict(model), folder, options);
    }
    template <typename Model>
    LoadedModel load_model(Model& model, const std::filesystem::path& place, bool strict = true) {
        return load_weights(*model.unwrap(), place, strict);
    }

  private:
    std::vector<std::filesystem::path> save_weights_once(const NamedTensors& tensors, const std::filesystem::path& folder,
                                                         const SaveModelOptions& options);
    PreparedOptimizer prepare_one(Optimizer&& optimizer);
    PreparedScheduler prepare_one(Scheduler&& scheduler);
    PreparedLoader prepare_one(Loader&& loader);
    template <typename Other>
    auto prepare_one(Other&& other) {
        using Plain = std::remove_cvref_t<Other>;
        if constexpr (PreparableModel<Plain>) {
            Plain taken = std::forward<Other>(other);
            if constexpr (requires { taken.is_empty(); }) {
                refuse_moved_from(taken.is_empty());
            } else {
                refuse_moved_from(taken == nullptr);
            }
            return PreparedModel<Plain>(m_core, std::move(taken));
        } else {
            return Plain(std::forward<Other>(other));
        }
    }
    static void refuse_moved_from(bool is_empty);
};

}  // namespace mantissa
