#pragma once
// What prepare() returns. Handles share the Accelerator's state, so they may outlive it and move freely.
#include <memory>
#include <optional>
#include <utility>

#include "engine/prepared_loader.h"
#include "engine/prepared_model.h"

namespace mantissa {

class PreparedOptimizer {
  public:
    PreparedOptimizer(std::shared_ptr<AcceleratorCore> accelerator, std::shared_ptr<OptimizerCore> optimizer);
    // A move is a copy: what was moved from stays usable.
    PreparedOptimizer(const PreparedOptimizer&) = default;
    PreparedOptimizer& operator=(const PreparedOptimizer&) = default;
    ~PreparedOptimizer() = default;

    /// Nothing between syncs. Skips on overflow; throws NonFinite before any weight moves, as `on_nonfinite` says.
    void step();
    /// Nothing between syncs, except that gradients which a step has used go at any time.
    void zero_grad();
    /// Of the last syncing step.
    [[nodiscard]] bool step_was_skipped() const { return state().skipped; }
    [[nodiscard]] double learning_rate() const { return core().groups().at(0).learning_rate; }
    [[nodiscard]] OptimizerCore& core() const { return *state().core; }
    [[nodiscard]] PreparedOptimizerState& state() const;
    [[nodiscard]] bool belongs_to(const AcceleratorCore& core) const { return m_accelerator.get() == &core; }
    /// For free_memory: this handle lets go of the optimizer.
    void release() { m_state.reset(); }

  private:
    std::shared_ptr<AcceleratorCore> m_accelerator;
    std::shared_ptr<PreparedOptimizerState> m_state;
};

class PreparedScheduler {
  public:
    PreparedScheduler(std::shared_ptr<AcceleratorCore> accelerator, std::shared_ptr<SchedulerCore> scheduler);
    PreparedScheduler(const PreparedScheduler&) = default;
    PreparedScheduler& operator=(const PreparedScheduler&) = default;
    ~PreparedScheduler() = default;

    /// Held between syncs and when an optimizer it is bound to skipped. Moves once per process of the group, because a prepared
    /// loader is that many times shorter; once with `split_batches`.
    void step();
    void step(double metric);  // reduce_on_plateau
    [[nodiscard]] double learning_rate() const { return core().optimizer()->groups().at(0).learning_rate; }
    [[nodiscard]] SchedulerCore& core() const;
    [[nodiscard]] bool belongs_to(const AcceleratorCore& core) const { return m_accelerator.get() == &core; }
    /// For free_memory: this handle lets go of the scheduler.
    void release() { m_core.reset(); }

  private:
    void step_with(std::optional<double> metric);

    std::shared_ptr<AcceleratorCore> m_accelerator;
    std::shared_ptr<SchedulerCore> m_core;
};

}  // namespace mantissa
