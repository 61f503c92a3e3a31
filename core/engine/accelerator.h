#pragma once
// The one entrance for device and precision (design §6). Semantics of Accelerate 1.15 without its defects D1–D11; a mode is fixed
// for the life of a process, all other state belongs to the object. Thread: the one that trains.
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/foreign_objects.h"
#include "engine/model_files.h"
#include "engine/no_sync_scope.h"
#include "engine/prepared.h"
#include "engine/processes.h"
#include "engine/profile_scope.h"
#include "engine/script_model.h"

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
    /// argument comes back bare. Objects that are prepared already come back as the same prepared object, unknown ones unchanged.
    template <typename... Raw>
    auto prepare(Raw&&... raw) {
        const bool placed = m_core->options.device_placement;
        return prepare_all<Raw...>({(static_cast<void>(sizeof(Raw)), placed)...}, std::forward<Raw>(raw)...);
    }
    /// The same with device placement per object: prepare({true, false}, std::move(model), std::move(loader)).
    template <std::size_t count, typename... Raw>
    auto prepare(const bool (&device_placement)[count], Raw&&... raw) {
        static_assert(count == sizeof...(Raw), "prepare() wants as many values of device_placement as objects");
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return prepare_all<Raw...>({device_placement[i]...}, std::forward<Raw>(raw)...);
        }(std::make_index_sequence<sizeof...(Raw)>{});
    }
    /// A model that is only evaluated here: frozen or half weights are fine, and nothing of it is kept for a skipped step.
    template <PreparableModel Model>
    auto prepare_for_evaluation(Model&& model) {
        static_assert(!std::is_lvalue_reference_v<Model>, "prepare_for_evaluation() takes over its model: pass it with std::move()");
        return prepare_model(std::forward<Model>(model), {m_core->device, m_core->options.device_placement, false});
    }

    /// Around forward and loss only. Restores what was before on every way out; blocks may be nested, and overridden:
    /// {.enabled = false} is an fp32 island.
    [[nodiscard]] AutocastScope autocast(const AutocastOptions& override = {}) const { return m_core->autocast(override); }
    [[nodiscard]] AutocastScope fp32_island() const { return AutocastScope::fp32_island(m_core->device.type()); }

    /// Start of a micro-batch: decides whether this one ends an accumulation window. Models may be named, as upstream does.
    template <typename... Models>
    void accumulate(const Models&... /*models*/) {
        m_core->enter_micro_batch();
    }
    /// While the result lives, no micro-batch ends a window: step, zero_grad, clip and scheduler do nothing.
    template <typename... Models>
    [[nodiscard]] NoSyncScope no_sync(const Models&... /*models*/) {
        return NoSyncScope(m_core);
    }
    [[nodiscard]] bool sync_gradients() const { return m_core->sync_gradients; }
    /// For loops without a prepared loader.
    void set_end_of_data(bool is_last_batch) { m_core->active_loaders->set_end_of_data(is_last_batch); }

    /// Divides by the accumulation steps, scales, once. `loss_factor` multiplies the loss inside; facts keep the plain one.
    void backward(const torch::Tensor& loss, double loss_factor = 1.0) { m_core->backward(loss, loss_factor); }

    /// After unscaling; only at a sync, else nothing is done and nothing returned. The norm is that before clipping.
    std::optional<double> clip_grad_norm(const std::vector<torch::Tensor>& parameters, double max_norm);
    void clip_grad_value(const std::vector<torch::Tensor>& parameters, double limit);
    void unscale_gradients() { m_core->end_window_of_all("unscale_gradients"); }

    [[nodiscard]] bool optimizer_step_was_skipped() const { return m_core->any_skipped(); }
    /// Facts of the last attempt (complete after the last prepared optimizer stepped, or threw NonFinite).
    [[nodiscard]] const StepFacts& last_step() const { return m_core->facts; }
    [[nodiscard]] std::vector<SettledStep> settle(bool all = true) { return m_core->settle(all); }  // of HostLooks::Later
    /// Where training stands between two calls.
    [[nodiscard]] const WindowProgress& window() const { return m_core->window; }

    [[nodiscard]] Precision mixed_precision() const { return m_core->precision; }
    [[nodiscard]] const std::string& mixed_precision_source() const { return m_core->precision_source; }
    [[nodiscard]] torch::Device device() const { return m_core->device; }
    [[nodiscard]] std::int64_t gradient_accumulation_steps() const { return m_core->accumulation_steps; }
    /// Linear layers of the first step in mode fp8: which ran in fp8, and which stayed bf16 because a size is no multiple of 16.
    [[nodiscard]] std::vector<Fp8Layer> fp8_layers() const { return m_core->fp8_layers(); }
    /// Empty without a scaler (no, bf16, fp8).
    [[nodiscard]] std::optional<LossScaleSchedule::State> loss_scale_state() const;
    void restore_loss_scale(const LossScaleSchedule::State& state);

    /// The bare model: fp32 weights, no autocast, no conversion.
    template <typename Holder>
    [[nodiscard]] Holder& unwrap(PreparedModel<Holder>& model) const {
        return model.unwrap();
    }
    /// As upstream: with keep_fp32_wrapper its forward stays in the mode and returns fp32; unwrap_model<false> is the bare model.
    template <bool keep_fp32_wrapper = true, typename Holder>
    [[nodiscard]] auto unwrap_model(PreparedModel<Holder>& model) const {
        if constexpr (keep_fp32_wrapper) {
            return model;
        } else {
            return Holder(model.unwrap());
        }
    }
    /// Lets go of everything that was prepared, and of these handles; the count of micro-batches begins anew. Loss scale stays.
    template <typename... Prepared>
    void free_memory(Prepared&... prepared) {
        (prepared.release(), ...);
        m_core->clear();
    }
    template <typename... Prepared>
    void clear(Prepared&... prepared) {
        free_memory(prepared...);
    }

    // --- checkpoints
    /// At any point between two calls, also in the middle of a window. Without a folder: PROJECT/checkpoints/checkpoint_N, of which
    /// total_limit stay. Atomic; an existing target is an error. Every process calls it; the main one writes what is shared.
    std::filesystem::path save_state(const std::filesystem::path& folder = {});
    /// Without a folder the checkpoint of the highest number. Everything is read and checked before anything changes; what goes on
    /// is, on a CPU, what would have come without the stop. Loss scale across modes: plan/resume_rule.h, told in the notices.
    LoadedState load_state(const std::filesystem::path& folder = {});
    /// What save_state() would write, as it is now; the tensors are the live ones.
    [[nodiscard]] Checkpoint state() const;
    /// As load_state(), of a state that was kept in memory; returns the notices.
    std::vector<std::string> take_state(const Checkpoint& checkpoint);
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

    // --- trackers (AcceleratorOptions::log_with): on the main process only; every attempt is told to them without a call
    /// Starts them all; an own tracker's error, or a second start, is an EngineError.
    void init_trackers(const std::string& project, const TrackerConfig& config = {});
    void log(const TrackedValues& values, std::optional<std::int64_t> step = {});
    [[nodiscard]] Tracker& get_tracker(const std::string& name);
    void end_training();
    /// Traces every operation into a Chrome trace file until the returned scope ends (engine/profile_scope.h).
    [[nodiscard]] std::unique_ptr<ProfileScope> profile(const std::filesystem::path& file, const ProfileOptions& options = {}) const;

  private:
    std::vector<std::filesystem::path> save_weights_once(const NamedTensors& tensors, const std::filesystem::path& folder,
                                                         const SaveModelOptions& options);
    template <typename... Raw>
    auto prepare_all(const bool (&placed)[sizeof...(Raw) == 0 ? 1 : sizeof...(Raw)], Raw&&... raw) {
        static_assert(sizeof...(Raw) > 0, "prepare() needs at least one object");
        static_assert((!std::is_lvalue_reference_v<Raw> && ...),
                      "prepare() takes over its objects: pass them with std::move() and go on with what it returns");
        (refuse_foreign_object<Raw>(), ...);
        if constexpr (sizeof...(Raw) == 1) {
            return prepare_one(placed[0], std::forward<Raw>(raw)...);
        } else {
            return [&]<std::size_t... i>(std::index_sequence<i...>) {  // braces: from left to right
                return std::tuple<decltype(prepare_one(true, std::forward<Raw>(raw)))...>{
                    prepare_one(placed[i], std::forward<Raw>(raw))...};
            }(std::index_sequence_for<Raw...>{});
        }
    }
    PreparedOptimizer prepare_one(bool placed, Optimizer&& optimizer);
    PreparedScheduler prepare_one(bool placed, Scheduler&& scheduler);
    PreparedLoader prepare_one(bool placed, Loader&& loader);
    PreparedLoader prepare_one(bool placed, PreparedLoader&& loader);
    PreparedModel<std::shared_ptr<ScriptModel>> prepare_one(bool placed, torch::jit::Module&& script);
    template <typename Other>
    auto prepare_one(bool placed, Other&& other) {
        using Plain = std::remove_cvref_t<Other>;
        if constexpr (requires { other.belongs_to(*m_core); }) {
            refuse_prepared_elsewhere(other.belongs_to(*m_core));
            return Plain(std::forward<Other>(other));
        } else if constexpr (PreparableModel<Plain>) {
            return prepare_model(std::forward<Other>(other), {m_core->device, placed, true});
        } else {
            return Plain(std::forward<Other>(other));
        }
    }
    template <typename Model>
    auto prepare_model(Model&& model, const PreparedObjects::ModelUse& use) {
        if constexpr (requires { model.is_empty(); }) {
            refuse_moved_from(model.is_empty());
        } else {
            refuse_moved_from(model == nullptr);
        }
        if constexpr (requires { model.get_deleter(); }) {
            return PreparedModel(m_core, std::shared_ptr<Meant<Model>>(std::forward<Model>(model)), use);
        } else {
            std::remove_cvref_t<Model> taken = std::forward<Model>(model);
            return PreparedModel(m_core, std::move(taken), use);
        }
    }
    static void refuse_moved_from(bool is_empty);
    static void refuse_prepared_elsewhere(bool is_here);
};

}  // namespace mantissa
