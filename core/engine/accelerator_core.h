#pragma once
// State shared by an Accelerator and everything it prepared. Thread: the one that trains. Not for direct use.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/accelerator_options.h"
#include "engine/autocast_scope.h"
#include "engine/deferred_findings.h"
#include "engine/engine_error.h"
#include "engine/loss_scaler.h"
#include "engine/prepared_loader.h"
#include "engine/prepared_objects.h"
#include "engine/saved_states.h"
#include "engine/step_facts.h"

namespace mantissa {

class TrackerSet;

/// Where training stands between two calls. With gradients, weights and buffers this is what the middle of a window consists of.
struct WindowProgress {
    std::int64_t micro_step = 0;  // micro-batches since the count began, as upstream counts
    std::int64_t size = 0;        // micro-batches of the window that is open, or was last
    std::int64_t attempts = 0;    // finished ones: the number of the next step
    std::int64_t applied = 0;     // of these, without a skip
    bool is_due = true;           // the micro-batch that was entered ends its window
    bool was_held = false;        // no: no_sync held it
    bool is_attempt_open = false;  // a backward since the last finished attempt
    bool has_backward = false;     // in this micro-batch
    std::vector<torch::Tensor> losses = {};  // of the open attempt, detached
};

struct ForwardScope {
    AutocastScope autocast;
    std::shared_ptr<const void> batch_norm;  // a SyncedBatchNormScope, or empty
};

class AcceleratorCore {
  public:
    explicit AcceleratorCore(const AcceleratorOptions& options);

    void enter_micro_batch();
    /// Nested calls count.
    void hold_sync(bool held);
    void backward(const torch::Tensor& loss, double loss_factor);
    /// First of clip, unscale_gradients and step: unscales, gives a short window its right weight, measures. Once per attempt.
    void end_window(PreparedOptimizerState& optimizer, bool is_step = false);
    void end_window_of_all(const char* what);
    /// In fp16: a gradient that no prepared optimizer has unscaled can't be clipped.
    void refuse_scaled(const std::vector<torch::Tensor>& parameters) const;
    void step(PreparedOptimizerState& optimizer);
    void zero_grad(PreparedOptimizerState& optimizer);
    void before_forward(PreparedModelState& model);
    void check_argument(const torch::Tensor& argument, int position, const PreparedModelState& model) const;
    [[nodiscard]] AutocastScope autocast(const AutocastOptions& override = {}) const;
    /// What holds during the forward pass of a prepared model: the mode's autocast, and batch norm over all processes.
    [[nodiscard]] ForwardScope forward_scope(const PreparedModelState& model) const;
    /// Linear layers of the first step in mode fp8, by the names that the prepared models give them.
    [[nodiscard]] std::vector<Fp8Layer> fp8_layers() const;
    [[nodiscard]] bool any_skipped() const;
    void clear();
    /// Of HostLooks::Later: attempts whose figures have come since the last call, in their order; `all` waits for those on the way.
    [[nodiscard]] std::vector<SettledStep> settle(bool all);

    // --- checkpoints
    [[nodiscard]] StateBundle progress() const;
    void check_progress(const Checkpoint& checkpoint) const;
    /// After check_progress, with the loss scale of now in place.
    void load_progress(const Checkpoint& checkpoint, std::vector<std::string>& notices);
    [[nodiscard]] const std::vector<std::shared_ptr<PreparedModelState>>& models() const { return prepared.models(); }
    [[nodiscard]] const std::vector<std::shared_ptr<PreparedOptimizerState>>& optimizers() const { return prepared.optimizers(); }
    [[nodiscard]] const std::vector<std::shared_ptr<SchedulerCore>>& schedulers() const { return prepared.schedulers(); }
    [[nodiscard]] std::int64_t attempts() const { return window.attempts; }
    [[nodiscard]] std::int64_t applied() const { return window.applied; }
    SavedStates saved_states;

    AcceleratorOptions options;
    std::string precision_source;
    Precision precision = Precision::No;
    torch::Device device = torch::kCPU;
    std::int64_t accumulation_steps = 1;
    std::optional<LossScaler> scaler;
    std::unique_ptr<Fp32Islands> islands;  // empty: none
    std::unique_ptr<Fp8Layers> fp8;        // empty: another mode
    PreparedObjects prepared;
    std::shared_ptr<TrackerSet> trackers;  // empty: none were asked for
    WindowProgress window;
    StepFacts facts;
    std::optional<DeferredFindings> deferred;  // empty: the host looks at every step
    bool sync_gradients = true;
    bool loaded_at_end_of_data = false;  // a loaded state was saved with the last batch in hand, and no batch has come since
    std::shared_ptr<ActiveLoaders> active_loaders = std::make_shared<ActiveLoaders>();
    std::vector<std::shared_ptr<LoaderCore>> loaders;  // all that were prepared, in order

  private:
    [[nodiscard]] std::vector<FactPlace> progress_places();
    [[nodiscard]] AutocastScope autocast_of_forward() const;
    void send_buffers(PreparedModelState& model) const;
    void finish_attempt();
    bool finish_if_stepped();
    void abandon_attempt();
    void open_facts();
    void record_scale(bool found_inf);
    /// Whoever didn't step holds gradients of the old scale: they follow it.
    void follow_scale(double before, double after);
    /// Gradients that were unscaled and not removed are scaled again before a backward adds to them.
    void make_addable();
    /// Undoes "unscaled" (not the arithmetic) of an optimizer that hasn't stepped.
    void take_back(PreparedOptimizerState& optimizer);
    [[nodiscard]] bool takes_part(const PreparedOptimizerState& optimizer) const;
    /// Factor that gives the last, short window of a pass its right weight (upstream divides by the full count).
    [[nodiscard]] double short_window_weight() const;
    /// What rule 12 keeps away from the weights. An overflow under the scaler is a skip, not this, until the scale is at its floor.
    [[nodiscard]] bool is_bad(const PreparedOptimizerState& optimizer) const;
    /// What one process found in its gradients and loss holds for all (rule 11).
    void agree_with_others(PreparedOptimizerState& optimizer);
    [[nodiscard]] NonFinite refusal_of(const StepFacts& bad, const std::string& bad_parameter) const;
    void refuse_to_look_later() const;
    void step_later(PreparedOptimizerState& optimizer);
    [[nodiscard]] bool reads_once() const { return !device.is_cpu() || options.host_looks == HostLooks::OncePerStep; }
    /// Losses, overflow and norms in one read of the device.
    void read_findings(PreparedOptimizerState& optimizer, const std::vector<torch::Tensor>& gradients, const torch::Tensor& found_inf);
    [[nodiscard]] std::string first_nonfinite_parameter(const PreparedOptimizerState& optimizer) const;
    [[nodiscard]] bool is_upstream() const { return options.compat == Compat::Accelerate; }

    std::unordered_set<const c10::TensorImpl*> m_unscaled;  // gradients of this attempt; only with several optimizers
    int m_held = 0;             // no_sync
    bool m_facts_open = false;  // facts of the attempt are being filled
};

}  // namespace mantissa
