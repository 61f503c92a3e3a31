#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/numbers.h"
#include "engine/scheduler_check.h"
#include "engine/scheduler.h"

namespace mantissa {

// As in Python, functions are not saved: the program makes the scheduler with the same ones.
class LambdaLr : public SchedulerCore {
  public:
    LambdaLr(std::shared_ptr<OptimizerCore> optimizer, std::vector<RateFactor> factors)
        : SchedulerCore(std::move(optimizer)), m_factors(std::move(factors)) {}
    [[nodiscard]] const char* name() const override { return "lambda"; }
    double next_rate(double, double base, std::size_t index) override {
        return base * (m_factors.size() == 1 ? m_factors[0] : m_factors.at(index))(m_last_epoch);
    }

  private:
    std::vector<RateFactor> m_factors;
};

class SequentialLr : public SchedulerCore {
  public:
    SequentialLr(std::shared_ptr<OptimizerCore> optimizer, std::vector<std::shared_ptr<SchedulerCore>> schedulers,
                 std::vector<std::int64_t> milestones)
        : SchedulerCore(std::move(optimizer)), m_schedulers(std::move(schedulers)), m_milestones(std::move(milestones)) {
        m_last_epoch = 0;
        for (auto& group : m_optimizer->groups()) {
            group.learning_rate = group.initial_learning_rate;
        }
        for (const auto& scheduler : m_schedulers) {
            --scheduler->m_last_epoch;  // takes back the step of its own making
        }
        m_schedulers.front()->initial_step();
    }
    void step() override {
        ++m_step_count;
        ++m_last_epoch;
        const auto passed = std::upper_bound(m_milestones.begin(), m_milestones.end(), m_last_epoch);
        const auto index = static_cast<std::size_t>(passed - m_milestones.begin());
        if (index > 0 && m_milestones[index - 1] == m_last_epoch) {
            m_schedulers[index]->enter();
        } else {
            m_schedulers[index]->step();
        }
    }
    [[nodiscard]] const char* name() const override { return "sequential"; }
    [[nodiscard]] std::vector<FactPlace> settings() override { return {{"milestones", &m_milestones}}; }
    double next_rate(double rate, double, std::size_t) override { return rate; }

    /// Its own, and that of each schedule under "0.", "1." and so on.
    [[nodiscard]] StateBundle state() const override {
        StateBundle bundle = SchedulerCore::state();
        bundle.facts["schedules"] = static_cast<std::int64_t>(m_schedulers.size());
        for (std::size_t i = 0; i < m_schedulers.size(); ++i) {
            for (auto& [fact, value] : m_schedulers[i]->state().facts) {
                bundle.facts[std::to_string(i) + "." + fact] = value;
            }
        }
        return bundle;
    }
    void refuse_misfit(const StateBundle& bundle) const override {
        SchedulerCore::refuse_misfit(bundle);
        const auto schedules = bundle.fact<std::int64_t>("schedules");
        const auto milestones = bundle.fact<std::vector<std::int64_t>>("setting.milestones").size();
        if (schedules != static_cast<std::int64_t>(m_schedulers.size()) || milestones != m_milestones.size()) {
            throw EngineError({ErrorCode::BadPlan,
                               "the saved state doesn't fit the scheduler sequential: it has " + std::to_string(schedules) +
                                   " schedules, this one " + std::to_string(m_schedulers.size()),
                               "make the same scheduler for the same optimizer, then load"});
        }
        for (std::size_t i = 0; i < m_schedulers.size(); ++i) {
            m_schedulers[i]->refuse_misfit(part(bundle, i));
        }
    }
    void load_state(const StateBundle& bundle) override {
        SchedulerCore::load_state(bundle);  // looks at all parts first
        for (std::size_t i = 0; i < m_schedulers.size(); ++i) {
            m_schedulers[i]->load_state(part(bundle, i));
        }
    }

  private:
    [[nodiscard]] static StateBundle part(const StateBundle& bundle, std::size_t index) {
        const std::string prefix = std::to_string(index) + ".";
        StateBundle found;
        for (const auto& [fact, value] : bundle.facts) {
            if (fact.starts_with(prefix)) {
                found.facts[fact.substr(prefix.size())] = value;
            }
        }
        return found;
    }

    std::vector<std::shared_ptr<SchedulerCore>> m_schedulers;
    std::vector<std::int64_t> m_milestones;
};

class PlateauLr : public SchedulerCore {
  public:
    PlateauLr(std::shared_ptr<OptimizerCore> optimizer, const PlateauOptions& options)
        : SchedulerCore(std::move(optimizer)), m_options(options) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        m_best = options.lower_is_better ? infinity : -infinity;
        m_last_epoch = 0;
    }
    void step() override {
        throw EngineError({ErrorCode::BadPlan, "reduce_on_plateau was stepped without a metric",
                           "call step(value) with what it should watch, for example the validation loss"});
    }
    void step_on(double metric) override {
        ++m_step_count;
        ++m_last_epoch;
        if (is_better(metric)) {
            m_best = metric;
            m_bad_epochs = 0;
        } else {
            ++m_bad_epochs;
        }
        if (m_cooldown > 0) {
            --m_cooldown;
            m_bad_epochs = 0;
        }
        if (m_bad_epochs > m_options.patience) {
            reduce();
            m_cooldown = m_options.cooldown;
            m_bad_epochs = 0;
        }
    }
    [[nodiscard]] const char* name() const override { return "plateau"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"lower_is_better", &m_options.lower_is_better}, {"factor", &m_options.factor},
                {"patience", &m_options.patience}, {"threshold", &m_options.threshold},
                {"relative_threshold", &m_options.relative_threshold}, {"cooldown", &m_options.cooldown},
                {"min_lr", &m_options.min_lr}, {"eps", &m_options.eps}, {"best", &m_best},
                {"bad_epochs", &m_bad_epochs}, {"cooldown_left", &m_cooldown}};
    }
    double next_rate(double rate, double, std::size_t) override { return rate; }

  private:
    [[nodiscard]] bool is_better(double metric) const {
        const double margin = m_options.threshold;
        if (m_options.relative_threshold) {
            return m_options.lower_is_better ? metric < m_best * (1.0 - margin) : metric > m_best * (margin + 1.0);
        }
        return m_options.lower_is_better ? metric < m_best - margin : metric > m_best + margin;
    }
    void reduce() {
        for (auto& group : m_optimizer->groups()) {
            const double lower = std::max(group.learning_rate * m_options.factor, m_options.min_lr);
            if (group.learning_rate - lower > m_options.eps) {
                group.learning_rate = lower;
            }
        }
    }

    PlateauOptions m_options;
    double m_best = 0;
    std::int64_t m_bad_epochs = 0, m_cooldown = 0;
};

namespace {

// Without a warm-up the first step has the full rate.
std::optional<double> warmup_factor(std::int64_t step, std::int64_t warmup_steps) {
    if (step >= warmup_steps) {
        return std::nullopt;
    }
    return static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, warmup_steps));
}

void check_warmup(const char* name, std::int64_t warmup_steps, std::optional<std::int64_t> total_steps) {
    require(warmup_steps >= 0, name, "warmup_steps", static_cast<double>(warmup_steps), "use a whole number from 0 up");
    if (total_steps) {
        require(*total_steps >= 1, name, "total_steps", static_cast<double>(*total_steps), "use a whole number from 1 up");
        require(warmup_steps <= *total_steps, name, "warmup_steps", static_cast<double>(warmup_steps),
                "use at most the total_steps: else the rate is never reached");
    }
}

}  // namespace

Scheduler lambda_lr(const Optimizer& optimizer, std::vector<RateFactor> factors) {
    const std::size_t groups = optimizer.core()->groups().size();
    if (factors.size() != groups) {
        throw EngineError({ErrorCode::BadPlan,
                           "lambda_lr got " + std::to_string(factors.size()) + " factors for an optimizer of " +
                               std::to_string(groups) + " parameter groups",
                           "give it one for each group, or a single function for all"});
    }
    if (std::any_of(factors.begin(), factors.end(), [](const RateFactor& factor) { return !factor; })) {
        throw EngineError({ErrorCode::BadPlan, "lambda_lr got an empty function", "give it one that returns a factor"});
    }
    auto core = std::make_shared<LambdaLr>(optimizer.core(), std::move(factors));
    core->initial_step();
    return Scheduler(std::move(core));
}

Scheduler lambda_lr(const Optimizer& optimizer, RateFactor factor) {
    return lambda_lr(optimizer, std::vector<RateFactor>(optimizer.core()->groups().size(), std::move(factor)));
}

Scheduler constant_with_warmup(const Optimizer& optimizer, std::int64_t warmup_steps) {
    check_warmup("constant_with_warmup", warmup_steps, std::nullopt);
    return lambda_lr(optimizer, [warmup_steps](std::int64_t step) { return warmup_factor(step, warmup_steps).value_or(1.0); });
}

Scheduler linear_with_warmup(const Optimizer& optimizer, std::int64_t warmup_steps, std::int64_t total_steps) {
    check_warmup("linear_with_warmup", warmup_steps, total_steps);
    return lambda_lr(optimizer, [warmup_steps, total_steps](std::int64_t step) {
        if (const auto factor = warmup_factor(step, warmup_steps)) {
            return *factor;
        }
        const auto left = static_cast<double>(std::max<std::int64_t>(1, total_steps - warmup_steps));
        return std::max(0.0, static_cast<double>(total_steps - step) / left);
    });
}

Scheduler cosine_with_warmup(const Optimizer& optimizer, std::int64_t warmup_steps, std::int64_t total_steps, double num_cycles) {
    check_warmup("cosine_with_warmup", warmup_steps, total_steps);
    require(std::isfinite(num_cycles) && num_cycles > 0, "cosine_with_warmup", "num_cycles", num_cycles, "use a number above 0");
    return lambda_lr(optimizer, [warmup_steps, total_steps, num_cycles](std::int64_t step) {
        if (const auto factor = warmup_factor(step, warmup_steps)) {
            return *factor;
        }
        const auto left = static_cast<double>(std::max<std::int64_t>(1, total_steps - warmup_steps));
        const double progress = static_cast<double>(step - warmup_steps) / left;
        return std::max(0.0, 0.5 * (1.0 + std::cos(std::numbers::pi * num_cycles * 2.0 * progress)));
    });
}

Scheduler sequential_lr(const Optimizer& optimizer, std::vector<Scheduler> schedulers, std::vector<std::int64_t> milestones) {
    if (schedulers.empty() || milestones.size() + 1 != schedulers.size()) {
        throw EngineError({ErrorCode::BadPlan,
                           "sequential_lr got " + std::to_string(schedulers.size()) + " schedules and " +
                               std::to_string(milestones.size()) + " milestones",
                           "give it one milestone less than schedules"});
    }
    if (std::adjacent_find(milestones.begin(), milestones.end(), std::greater_equal<>()) != milestones.end() ||
        (!milestones.empty() && milestones.front() < 1)) {
        throw EngineError({ErrorCode::BadPlan, "the milestones of sequential_lr don't rise from 1 up", "sort them"});
    }
    std::vector<std::shared_ptr<SchedulerCore>> cores;
    for (std::size_t i = 0; i < schedulers.size(); ++i) {
        cores.push_back(schedulers[i].core());
        const SchedulerCore* core = cores.back().get();
        const bool is_plain = dynamic_cast<const PlateauLr*>(core) == nullptr && dynamic_cast<const SequentialLr*>(core) == nullptr;
        if (!is_plain || core->optimizer() != optimizer.core()) {
            throw EngineError({ErrorCode::BadPlan,
                               "schedule " + std::to_string(i) + " of sequential_lr " +
                                   (is_plain ? "belongs to another optimizer" : "is itself a sequence, or waits for a metric"),
                               "make all of them for this optimizer, plain ones, in one list"});
        }
    }
    return Scheduler(std::make_shared<SequentialLr>(optimizer.core(), std::move(cores), std::move(milestones)));
}

Scheduler reduce_on_plateau(const Optimizer& optimizer, const PlateauOptions& options) {
    require(options.factor >= 0 && options.factor < 1, "reduce_on_plateau", "factor", options.factor, "use a number from 0 to below 1");
    require(options.patience >= 0, "reduce_on_plateau", "patience", static_cast<double>(options.patience), "use a whole number from 0 up");
    require(options.cooldown >= 0, "reduce_on_plateau", "cooldown", static_cast<double>(options.cooldown), "use a whole number from 0 up");
    return Scheduler(std::make_shared<PlateauLr>(optimizer.core(), options));
}

}  // namespace mantissa
