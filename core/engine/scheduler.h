#pragma once
// Learning-rate schedulers in Python's recursive formulas (torch.optim.lr_scheduler 2.11): the closed forms differ in the last
// bits of most steps. A scheduler is bound to the heap state of the optimizer that it was made for.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/optimizer.h"

namespace mantissa {

class SchedulerCore : public Stateful {
  public:
    explicit SchedulerCore(std::shared_ptr<OptimizerCore> optimizer);
    /// A saved state goes into a scheduler of the same name only.
    [[nodiscard]] virtual const char* name() const { return "own"; }

    /// The step that Python's constructor makes; done by the functions below.
    void initial_step();
    virtual void step();
    /// For reduce_on_plateau, which looks at a metric; the others refuse it with a sentence, as it refuses step().
    virtual void step_on(double metric);
    [[nodiscard]] virtual std::optional<std::int64_t> total_steps() const { return std::nullopt; }
    [[nodiscard]] std::int64_t step_count() const { return m_step_count; }
    [[nodiscard]] const std::shared_ptr<OptimizerCore>& optimizer() const { return m_optimizer; }

    /// Position, base rates and settings; the current rates are the optimizer's. As in Python, loading takes up the saved settings.
    [[nodiscard]] StateBundle state() const override;
    void load_state(const StateBundle& bundle) override;
    /// What load_state() checks first: throws EngineError that names what differs.
    virtual void refuse_misfit(const StateBundle& bundle) const;

  protected:
    /// Members beyond those of this class that are saved; the same list at every call.
    [[nodiscard]] virtual std::vector<FactPlace> settings() { return {}; }
    /// Renews what is derived from the settings.
    virtual void after_load() {}
    /// Next learning rate of group `index`, whose current one is `rate` and first one `base`.
    virtual double next_rate(double rate, double base, std::size_t index) = 0;
    /// The rate at epoch 0 when a sequence enters this schedule (Python: the closed form, else the next rate).
    virtual double first_rate(double rate, double base, std::size_t index) { return next_rate(rate, base, index); }
    void apply_rates();

    std::shared_ptr<OptimizerCore> m_optimizer;
    std::vector<double> m_base_rates;
    std::int64_t m_last_epoch = -1;
    std::int64_t m_step_count = 0;
    bool m_is_initial = false;

  private:
    friend class SequentialLr;
    void enter();  // at a milestone of a sequence
};

/// Raw scheduler, to be moved into prepare().
class Scheduler {
  public:
    explicit Scheduler(std::shared_ptr<SchedulerCore> core) : m_core(std::move(core)) {}
    Scheduler(Scheduler&&) = default;
    Scheduler& operator=(Scheduler&&) = default;
    [[nodiscard]] const std::shared_ptr<SchedulerCore>& core() const;

  private:
    std::shared_ptr<SchedulerCore> m_core;
};

struct OneCycleOptions {
    double max_lr = 0.1;
    std::int64_t total_steps = 0;
    double pct_start = 0.3, div_factor = 25.0, final_div_factor = 1e4;
    bool cosine = true, cycle_momentum = true, three_phase = false;
    double base_momentum = 0.85, max_momentum = 0.95;
};

enum class CyclicShape { Triangular, Halving, Exponential };  // Python: triangular triangular2 exp_range

struct CyclicOptions {
    double base_lr = 1e-3, max_lr = 0.1;
    std::int64_t step_size_up = 2000;
    std::optional<std::int64_t> step_size_down = {};  // unset: as up
    CyclicShape shape = CyclicShape::Triangular;
    double gamma = 1.0;
    bool cycle_momentum = true;
    double base_momentum = 0.8, max_momentum = 0.9;
};

[[nodiscard]] Scheduler constant(const Optimizer& optimizer);  // the learning rate stays
[[nodiscard]] Scheduler step_lr(const Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);
[[nodiscard]] Scheduler multi_step_lr(const Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);
[[nodiscard]] Scheduler constant_lr(const Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5);
[[nodiscard]] Scheduler linear_lr(const Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0,
                                  std::int64_t total_iters = 5);
[[nodiscard]] Scheduler exponential_lr(const Optimizer& optimizer, double gamma);
[[nodiscard]] Scheduler polynomial_lr(const Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1.0);
[[nodiscard]] Scheduler cosine_lr(const Optimizer& optimizer, std::int64_t t_max, double eta_min = 0.0);
[[nodiscard]] Scheduler cosine_restarts_lr(const Optimizer& optimizer, std::int64_t t_0, std::int64_t t_mult = 1,
                                           double eta_min = 0.0);
[[nodiscard]] Scheduler one_cycle_lr(const Optimizer& optimizer, const OneCycleOptions& options);
[[nodiscard]] Scheduler cyclic_lr(const Optimizer& optimizer, const CyclicOptions& options);

/// The first rate of a group × factor(epoch); one factor for all groups, or one for each.
using RateFactor = std::function<double(std::int64_t epoch)>;
[[nodiscard]] Scheduler lambda_lr(const Optimizer& optimizer, RateFactor factor);
[[nodiscard]] Scheduler lambda_lr(const Optimizer& optimizer, std::vector<RateFactor> factors);

// The warm-ups of transformers (get_…_schedule_with_warmup): the first step's rate is 0.
[[nodiscard]] Scheduler constant_with_warmup(const Optimizer& optimizer, std::int64_t warmup_steps);
[[nodiscard]] Scheduler linear_with_warmup(const Optimizer& optimizer, std::int64_t warmup_steps, std::int64_t total_steps);
[[nodiscard]] Scheduler cosine_with_warmup(const Optimizer& optimizer, std::int64_t warmup_steps, std::int64_t total_steps,
                                           double num_cycles = 0.5);

/// One schedule after the other (SequentialLR): the next one begins at each milestone. Make the schedules in their order.
[[nodiscard]] Scheduler sequential_lr(const Optimizer& optimizer, std::vector<Scheduler> schedulers,
                                      std::vector<std::int64_t> milestones);

struct PlateauOptions {
    bool lower_is_better = true;  // Python: mode min
    double factor = 0.1;
    std::int64_t patience = 10;
    double threshold = 1e-4;
    bool relative_threshold = true;
    std::int64_t cooldown = 0;
    double min_lr = 0, eps = 1e-8;
};
[[nodiscard]] Scheduler reduce_on_plateau(const Optimizer& optimizer, const PlateauOptions& options = {});

/// From a plan (the ids of the catalogue). `plan_steps` stands in for total_steps = 0.
[[nodiscard]] Scheduler make_scheduler(const SchedulerPlan& plan, const Optimizer& optimizer, std::int64_t plan_steps);

}  // namespace mantissa
