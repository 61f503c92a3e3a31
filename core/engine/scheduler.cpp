#include "engine/scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "engine/scheduler_check.h"

namespace mantissa {
namespace {

constexpr double pi = std::numbers::pi;

// Python's % for whole numbers: the result has the sign of the divisor.
std::int64_t floor_modulo(std::int64_t value, std::int64_t divisor) {
    const std::int64_t rest = value % divisor;
    return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

class ConstantRate : public SchedulerCore {
  public:
    using SchedulerCore::SchedulerCore;
    [[nodiscard]] const char* name() const override { return "constant"; }
    double next_rate(double rate, double, std::size_t) override { return rate; }
};

class StepLr : public SchedulerCore {
  public:
    StepLr(std::shared_ptr<OptimizerCore> optimizer, std::int64_t step_size, double gamma)
        : SchedulerCore(std::move(optimizer)), m_step_size(step_size), m_gamma(gamma) {}
    [[nodiscard]] const char* name() const override { return "step"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"step_size", &m_step_size}, {"gamma", &m_gamma}};
    }
    double next_rate(double rate, double, std::size_t) override {
        return m_last_epoch == 0 || m_last_epoch % m_step_size != 0 ? rate : rate * m_gamma;
    }
    double first_rate(double, double base, std::size_t) override { return base; }

  private:
    std::int64_t m_step_size;
    double m_gamma;
};

class MultiStepLr : public SchedulerCore {
  public:
    MultiStepLr(std::shared_ptr<OptimizerCore> optimizer, std::vector<std::int64_t> milestones, double gamma)
        : SchedulerCore(std::move(optimizer)), m_milestones(std::move(milestones)), m_gamma(gamma) {}
    [[nodiscard]] const char* name() const override { return "multi_step"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"milestones", &m_milestones}, {"gamma", &m_gamma}};
    }
    double next_rate(double rate, double, std::size_t) override {
        const auto times = std::count(m_milestones.begin(), m_milestones.end(), m_last_epoch);
        return times == 0 ? rate : rate * std::pow(m_gamma, static_cast<double>(times));
    }
    double first_rate(double, double base, std::size_t) override {
        const auto passed = std::count_if(m_milestones.begin(), m_milestones.end(), [](auto at) { return at <= 0; });
        return base * std::pow(m_gamma, static_cast<double>(passed));
    }

  private:
    std::vector<std::int64_t> m_milestones;
    double m_gamma;
};

class ConstantLr : public SchedulerCore {
  public:
    ConstantLr(std::shared_ptr<OptimizerCore> optimizer, double factor, std::int64_t total_iters)
        : SchedulerCore(std::move(optimizer)), m_factor(factor), m_total_iters(total_iters) {}
    [[nodiscard]] const char* name() const override { return "constant_factor"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"factor", &m_factor}, {"total_iters", &m_total_iters}};
    }
    double next_rate(double rate, double, std::size_t) override {
        if (m_last_epoch == 0) return rate * m_factor;
        return m_last_epoch == m_total_iters ? rate * (1.0 / m_factor) : rate;
    }
    double first_rate(double, double base, std::size_t) override {
        return base * (m_factor + (m_total_iters <= 0 ? 1.0 - m_factor : 0.0));
    }

  private:
    double m_factor;
    std::int64_t m_total_iters;
};

class LinearLr : public SchedulerCore {
  public:
    LinearLr(std::shared_ptr<OptimizerCore> optimizer, double start, double end, std::int64_t total_iters)
        : SchedulerCore(std::move(optimizer)), m_start(start), m_end(end), m_total_iters(total_iters) {}
    [[nodiscard]] const char* name() const override { return "linear"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"start_factor", &m_start}, {"end_factor", &m_end}, {"total_iters", &m_total_iters}};
    }
    double next_rate(double rate, double, std::size_t) override {
        if (m_last_epoch == 0) return rate * m_start;
        if (m_is_initial || m_last_epoch > m_total_iters) return rate;
        return rate * (1.0 + (m_end - m_start) / (static_cast<double>(m_total_iters) * m_start +
                                                  static_cast<double>(m_last_epoch - 1) * (m_end - m_start)));
    }
    double first_rate(double, double base, std::size_t) override { return base * m_start; }

  private:
    double m_start, m_end;
    std::int64_t m_total_iters;
};

class ExponentialLr : public SchedulerCore {
  public:
    ExponentialLr(std::shared_ptr<OptimizerCore> optimizer, double gamma)
        : SchedulerCore(std::move(optimizer)), m_gamma(gamma) {}
    [[nodiscard]] const char* name() const override { return "exponential"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"gamma", &m_gamma}};
    }
    double next_rate(double rate, double, std::size_t) override { return m_is_initial ? rate : rate * m_gamma; }
    double first_rate(double, double base, std::size_t) override { return base; }

  private:
    double m_gamma;
};

class PolynomialLr : public SchedulerCore {
  public:
    PolynomialLr(std::shared_ptr<OptimizerCore> optimizer, std::int64_t total_iters, double power)
        : SchedulerCore(std::move(optimizer)), m_total_iters(static_cast<double>(total_iters)), m_power(power) {}
    [[nodiscard]] const char* name() const override { return "polynomial"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"total_iters", &m_total_iters}, {"power", &m_power}};
    }
    double next_rate(double rate, double, std::size_t) override {
        const auto epoch = static_cast<double>(m_last_epoch);
        if (m_is_initial || epoch > m_total_iters) return rate;
        return rate * std::pow((1.0 - epoch / m_total_iters) / (1.0 - (epoch - 1) / m_total_iters), m_power);
    }
    double first_rate(double, double base, std::size_t) override { return base; }

  private:
    double m_total_iters, m_power;
};

class CosineLr : public SchedulerCore {
  public:
    CosineLr(std::shared_ptr<OptimizerCore> optimizer, std::int64_t t_max, double eta_min)
        : SchedulerCore(std::move(optimizer)), m_t_max(t_max), m_eta_min(eta_min) {}
    [[nodiscard]] const char* name() const override { return "cosine"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"t_max", &m_t_max}, {"eta_min", &m_eta_min}};
    }
    double next_rate(double rate, double base, std::size_t) override {
        const auto t_max = static_cast<double>(m_t_max);
        if (m_is_initial) return rate;
        if (floor_modulo(m_last_epoch - 1 - m_t_max, 2 * m_t_max) == 0) {
            return rate + (base - m_eta_min) * (1 - std::cos(pi / t_max)) / 2;
        }
        return (1 + std::cos(pi * static_cast<double>(m_last_epoch) / t_max)) /
                   (1 + std::cos(pi * static_cast<double>(m_last_epoch - 1) / t_max)) * (rate - m_eta_min) +
               m_eta_min;
    }
    double first_rate(double, double base, std::size_t) override { return m_eta_min + (base - m_eta_min) * 2 / 2; }

  private:
    std::int64_t m_t_max;
    double m_eta_min;
};

class CosineRestartsLr : public SchedulerCore {
  public:
    CosineRestartsLr(std::shared_ptr<OptimizerCore> optimizer, std::int64_t t_0, std::int64_t t_mult, double eta_min)
        : SchedulerCore(std::move(optimizer)), m_t_i(t_0), m_t_mult(t_mult), m_eta_min(eta_min) {}
    void step() override {
        ++m_last_epoch;
        if (m_last_epoch > 0 && ++m_t_current >= m_t_i) {
            m_t_current %= m_t_i;
            m_t_i *= m_t_mult;
        }
        apply_rates();
    }
    [[nodiscard]] const char* name() const override { return "cosine_restarts"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"t_current", &m_t_current}, {"t_i", &m_t_i}, {"t_mult", &m_t_mult}, {"eta_min", &m_eta_min}};
    }
    double next_rate(double, double base, std::size_t) override {
        return m_eta_min + (base - m_eta_min) *
                               (1 + std::cos(pi * static_cast<double>(m_t_current) / static_cast<double>(m_t_i))) / 2;
    }

  private:
    std::int64_t m_t_current = 0, m_t_i, m_t_mult;
    double m_eta_min;
};

class OneCycleLr : public SchedulerCore {
  public:
    OneCycleLr(std::shared_ptr<OptimizerCore> optimizer, const OneCycleOptions& options)
        : SchedulerCore(std::move(optimizer)), m_options(options) {
        make_phases();
        const Value first = m_phases.front().from;
        for (auto& group : m_optimizer->groups()) {
            group.initial_learning_rate = first.rate;
            if (options.cycle_momentum) group.momentum = options.max_momentum;
        }
        std::fill(m_base_rates.begin(), m_base_rates.end(), first.rate);
    }
    [[nodiscard]] std::optional<std::int64_t> total_steps() const override { return m_options.total_steps; }

    [[nodiscard]] const char* name() const override { return "one_cycle"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"max_lr", &m_options.max_lr}, {"total_steps", &m_options.total_steps}, {"pct_start", &m_options.pct_start},
                {"div_factor", &m_options.div_factor}, {"final_div_factor", &m_options.final_div_factor},
                {"cosine", &m_options.cosine}, {"cycle_momentum", &m_options.cycle_momentum},
                {"three_phase", &m_options.three_phase}, {"base_momentum", &m_options.base_momentum},
                {"max_momentum", &m_options.max_momentum}};
    }
    double next_rate(double, double, std::size_t index) override {
        if (m_last_epoch > m_options.total_steps) {
            throw EngineError({ErrorCode::BadPlan,
                               "one_cycle was stepped " + std::to_string(m_last_epoch) + " times, but its total_steps is " +
                                   std::to_string(m_options.total_steps),
                               "give it the number of steps of the whole run"});
        }
        const auto step = static_cast<double>(m_last_epoch);
        double start = 0;
        for (const Phase& phase : m_phases) {
            if (step <= phase.end_step || &phase == &m_phases.back()) {
                const double part = (step - start) / (phase.end_step - start);
                if (m_options.cycle_momentum) {
                    m_optimizer->groups()[index].momentum = anneal(phase.from.momentum, phase.to.momentum, part);
                }
                return anneal(phase.from.rate, phase.to.rate, part);
            }
            start = phase.end_step;
        }
        return 0;
    }

  protected:
    void after_load() override { make_phases(); }

  private:
    struct Value {
        double rate, momentum;
    };
    struct Phase {
        double end_step;
        Value from, to;
    };
    void make_phases() {
        const auto total = static_cast<double>(m_options.total_steps);
        const Value first = {m_options.max_lr / m_options.div_factor, m_options.max_momentum};
        const Value top = {m_options.max_lr, m_options.base_momentum};
        const Value last = {first.rate / m_options.final_div_factor, m_options.max_momentum};
        m_phases = {{m_options.pct_start * total - 1, first, top}};
        if (m_options.three_phase) {
            m_phases.push_back({2 * m_options.pct_start * total - 2, top, first});
            m_phases.push_back({total - 1, first, last});
        } else {
            m_phases.push_back({total - 1, top, last});
        }
    }
    [[nodiscard]] double anneal(double from, double to, double part) const {
        return m_options.cosine ? to + (from - to) / 2.0 * (std::cos(pi * part) + 1) : (to - from) * part + from;
    }

    OneCycleOptions m_options;
    std::vector<Phase> m_phases;
};

template <typename Core, typename... Arguments>
Scheduler start(const Optimizer& optimizer, Arguments&&... arguments) {
    auto core = std::make_shared<Core>(optimizer.core(), std::forward<Arguments>(arguments)...);
    core->initial_step();
    return Scheduler(std::move(core));
}

}  // namespace

SchedulerCore::SchedulerCore(std::shared_ptr<OptimizerCore> optimizer) : m_optimizer(std::move(optimizer)) {
    for (const auto& group : m_optimizer->groups()) {
        m_base_rates.push_back(group.initial_learning_rate);
    }
}

void SchedulerCore::initial_step() {
    m_is_initial = true;
    step();
    m_is_initial = false;
}

void SchedulerCore::step() {
    ++m_step_count;
    ++m_last_epoch;
    apply_rates();
}

void SchedulerCore::step_on(double) {
    throw EngineError({ErrorCode::BadPlan, "this schedule looks at no metric", "call step() without one"});
}

void SchedulerCore::enter() {
    m_last_epoch = 0;
    auto& groups = m_optimizer->groups();
    for (std::size_t index = 0; index < groups.size(); ++index) {
        groups[index].learning_rate = first_rate(groups[index].learning_rate, m_base_rates.at(index), index);
    }
}

void SchedulerCore::apply_rates() {
    auto& groups = m_optimizer->groups();
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const double base = index < m_base_rates.size() ? m_base_rates[index] : groups[index].initial_learning_rate;
        groups[index].learning_rate = next_rate(groups[index].learning_rate, base, index);
    }
}

const std::shared_ptr<SchedulerCore>& Scheduler::core() const {
    if (!m_core) {
        throw EngineError({ErrorCode::BadPlan, "this scheduler was moved into prepare()",
                           "go on with the one that prepare() returned"});
    }
    return m_core;
}

Scheduler constant(const Optimizer& optimizer) { return start<ConstantRate>(optimizer); }

Scheduler step_lr(const Optimizer& optimizer, std::int64_t step_size, double gamma) {
    require(step_size >= 1, "step", "step_size", static_cast<double>(step_size), "use a whole number from 1 up");
    return start<StepLr>(optimizer, step_size, gamma);
}

Scheduler multi_step_lr(const Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma) {
    return start<MultiStepLr>(optimizer, std::move(milestones), gamma);
}

Scheduler constant_lr(const Optimizer& optimizer, double factor, std::int64_t total_iters) {
    require(factor >= 0 && factor <= 1, "constant factor", "factor", factor, "use a number from 0 to 1");
    return start<ConstantLr>(optimizer, factor, total_iters);
}

Scheduler linear_lr(const Optimizer& optimizer, double start_factor, double end_factor, std::int64_t total_iters) {
    require(start_factor > 0 && start_factor <= 1, "linear", "start_factor", start_factor,
            "use a number above 0, up to 1");
    require(end_factor >= 0 && end_factor <= 1, "linear", "end_factor", end_factor, "use a number from 0 to 1");
    return start<LinearLr>(optimizer, start_factor, end_factor, total_iters);
}

Scheduler exponential_lr(const Optimizer& optimizer, double gamma) { return start<ExponentialLr>(optimizer, gamma); }

Scheduler polynomial_lr(const Optimizer& optimizer, std::int64_t total_iters, double power) {
    require(total_iters >= 1, "polynomial", "total_iters", static_cast<double>(total_iters),
            "use a whole number from 1 up");
    return start<PolynomialLr>(optimizer, total_iters, power);
}

Scheduler cosine_lr(const Optimizer& optimizer, std::int64_t t_max, double eta_min) {
    require(t_max >= 1, "cosine", "t_max", static_cast<double>(t_max), "use a whole number from 1 up");
    return start<CosineLr>(optimizer, t_max, eta_min);
}

Scheduler cosine_restarts_lr(const Optimizer& optimizer, std::int64_t t_0, std::int64_t t_mult, double eta_min) {
    require(t_0 >= 1, "cosine restarts", "t_0", static_cast<double>(t_0), "use a whole number from 1 up");
    require(t_mult >= 1, "cosine restarts", "t_mult", static_cast<double>(t_mult), "use a whole number from 1 up");
    return start<CosineRestartsLr>(optimizer, t_0, t_mult, eta_min);
}

Scheduler one_cycle_lr(const Optimizer& optimizer, const OneCycleOptions& options) {
    require(options.total_steps >= 1, "one_cycle", "total_steps", static_cast<double>(options.total_steps),
            "use a whole number from 1 up");
    require(options.pct_start >= 0 && options.pct_start <= 1, "one_cycle", "pct_start", options.pct_start,
            "use a number from 0 to 1");
    return start<OneCycleLr>(optimizer, options);
}

}  // namespace mantissa
