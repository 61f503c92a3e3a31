#pragma once
// State shared by an Accelerator and everything it prepared. Thread: the one that trains. Not for direct use.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/accelerator_options.h"
#include "engine/engine_error.h"
#include "engine/loss_scaler.h"
#include "engine/optimizer.h"
#include "engine/prepared_loader.h"
#include "engine/saved_states.h"
#include "engine/scheduler.h"
#include "engine/step_facts.h"
#include "torch_pch.h"

namespace mantissa {

class TrackerSet;

/// A model's buffers before the forward pass of an attempt, to go back to when the attempt is skipped (BatchNorm, D9).
struct PreparedModelState {
    std::shared_ptr<torch::nn::Module> module;
    std::vector<torch::Tensor> buffers, saved;
    bool is_saved = false;
};

struct PreparedOptimizerState {
    enum class Stage { Ready, Unscaled, Stepped };
    std::shared_ptr<OptimizerCore> core;
    Stage stage = Stage::Ready;
    bool found_inf = false;
    bool skipped = false;
    double sum_of_squares = 0;
};

class AcceleratorCore {
  public:
    explicit AcceleratorCore(const AcceleratorOptions& options);

    void enter_micro_batch();
    void backward(const torch::Tensor& loss, double loss_factor);
    /// First of clip, unscale_gradients and step: unscales, gives a short window its right weight, measures. Once per attempt.
    void end_window(PreparedOptimizerState& optimizer, bool is_step = false);
    void end_window_of_all();
    void step(PreparedOptimizerState& optimizer);
    void before_forward(PreparedModelState& model, const torch::Tensor* input);

    std::shared_ptr<PreparedOptimizerState> add(std::shared_ptr<OptimizerCore> optimizer);
    std::shared_ptr<PreparedModelState> add(std::shared_ptr<torch::nn::Module> model);
    void add(std::shared_ptr<SchedulerCore> scheduler) { m_schedulers.push_back(std::move(scheduler)); }
    [[nodiscard]] std::vector<std::shared_ptr<PreparedOptimizerState>> optimizers_of(const OptimizerCore* core) const;
    [[nodiscard]] bool any_skipped() const;

    // --- checkpoints
    [[nodiscard]] StateBundle progress() const;
    void check_progress(const Checkpoint& checkpoint) const;
    /// After check_progress, with the loss scale of now in place.
    void load_progress(const Checkpoint& checkpoint, std::vector<std::string>& notices);
    [[nodiscard]] const std::vector<std::shared_ptr<PreparedModelState>>& models() const { return m_models; }
    [[nodiscard]] const std::vector<std::shared_ptr<PreparedOptimizerState>>& optimizers() const { return m_optimizers; }
    [[nodiscard]] const std::vector<std::shared_ptr<SchedulerCore>>& schedulers() const { return m_schedulers; }
    [[nodiscard]] std::int64_t attempts() const { return m_attempts; }
    [[nodiscard]] std::int64_t applied() const { return m_applied; }  // attempts without a skip
    SavedStates saved_states;

    AcceleratorOptions options;
    std::string precision_source;
    Precision precision = Precision::No;
    torch::Device device = torch::kCPU;
    std::int64_t accumulation_steps = 1;
    std::optional<LossScaler> scaler;
    StepFacts facts;
    std::shared_ptr<TrackerSet> trackers;  // empty: none were asked for
    bool sync_gradients = true;
    bool loaded_at_end_of_data = false;  // a loaded state was saved with the last batch in hand, and no batch has come since
    std::shared_ptr<ActiveLoaders> active_loaders = std::make_shared<ActiveLoaders>();
    std::vector<std::shared_ptr<LoaderCore>> loaders;  // all that were prepared, in order

  private:
    [[nodiscard]] std::vector<FactPlace> progress_places();
    void begin_attempt();
    void finish_attempt();
    void open_facts();
    void refuse_inside_autocast(const char* what) const;
    void refuse_second_backward(const torch::Tensor& loss) const;
    static void refuse_half_weight(const torch::Tensor& parameter, const std::string& name);
    static void refuse_half_statistics(const torch::nn::Module& module);  // batch norm's, while it trains
    /// Factor that gives the last, short window of a pass its right weight (upstream divides by the full count).
    [[nodiscard]] double short_window_weight() const;
    /// What rule 12 keeps away from the weights. An overflow under the scaler is a skip, not this, until the scale is at its floor.
    [[nodiscard]] bool is_bad(const PreparedOptimizerState& optimizer) const;
    /// What one process found in its gradients and loss holds for all (rule 11).
    void agree_with_others(PreparedOptimizerState& optimizer);
    [[noreturn]] void stop_for(const std::string& bad_parameter) const;
    [[nodiscard]] std::string name_of(const torch::Tensor& parameter) const;
    [[nodiscard]] std::string first_nonfinite_parameter(const PreparedOptimizerState& optimizer) const;

    std::vector<std::shared_ptr<PreparedOptimizerState>> m_optimizers;
    std::vector<std::shared_ptr<PreparedModelState>> m_models;
    std::vector<std::shared_ptr<SchedulerCore>> m_schedulers;
    std::unordered_map<const c10::TensorImpl*, std::string> m_parameter_names;
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> m_seen_losses;  // of this attempt: a second backward is refused
    std::vector<torch::Tensor> m_losses;                                  // detached
    std::int64_t m_micro_step = 0;
    std::int64_t m_window_size = 0;  // micro-batches entered since the last finished attempt
    std::int64_t m_attempts = 0, m_applied = 0;
    bool m_attempt_open = false;  // a backward since the last finished attempt
    bool m_facts_open = false;    // facts of the attempt are being filled
};

}  // namespace mantissa
