#include <cmath>

#include "engine/engine_error.h"
#include "engine/scheduler.h"

namespace mantissa {
namespace {

class CyclicLr : public SchedulerCore {
  public:
    CyclicLr(std::shared_ptr<OptimizerCore> optimizer, const CyclicOptions& options)
        : SchedulerCore(std::move(optimizer)), m_options(options) {
        m_step_size_down = options.step_size_down.value_or(options.step_size_up);
        m_shape = static_cast<std::int64_t>(options.shape);
        after_load();
        for (auto& group : m_optimizer->groups()) {
            group.learning_rate = options.base_lr;
            if (options.cycle_momentum) {
                group.momentum = options.max_momentum;
            }
        }
    }

    [[nodiscard]] const char* name() const override { return "cyclic"; }
    [[nodiscard]] std::vector<FactPlace> settings() override {
        return {{"base_lr", &m_options.base_lr}, {"max_lr", &m_options.max_lr}, {"step_size_up", &m_options.step_size_up},
                {"step_size_down", &m_step_size_down}, {"shape", &m_shape}, {"gamma", &m_options.gamma},
                {"cycle_momentum", &m_options.cycle_momentum}, {"base_momentum", &m_options.base_momentum},
                {"max_momentum", &m_options.max_momentum}};
    }
    double next_rate(double, double, std::size_t index) override {
        const auto epoch = static_cast<double>(m_last_epoch);
        const double cycle = std::floor(1 + epoch / m_total_size);
        const double x = 1.0 + epoch / m_total_size - cycle;
        const double factor = x <= m_step_ratio ? x / m_step_ratio : (x - 1) / (m_step_ratio - 1);
        if (m_options.cycle_momentum) {
            const double height = (m_options.max_momentum - m_options.base_momentum) * factor;
            m_optimizer->groups()[index].momentum = m_options.max_momentum - height * amplitude(cycle);
        }
        const double height = (m_options.max_lr - m_options.base_lr) * factor;
        return m_options.base_lr + height * amplitude(cycle);
    }

  protected:
    void after_load() final {
        const auto up = static_cast<double>(m_options.step_size_up);
        m_total_size = up + static_cast<double>(m_step_size_down);
        m_step_ratio = up / m_total_size;
    }

  private:
    [[nodiscard]] double amplitude(double cycle) const {
        switch (static_cast<CyclicShape>(m_shape)) {
            case CyclicShape::Triangular: return 1.0;
            case CyclicShape::Halving: return 1 / std::pow(2.0, cycle - 1);
            case CyclicShape::Exponential: return std::pow(m_options.gamma, static_cast<double>(m_last_epoch));
        }
        return 1.0;
    }

    CyclicOptions m_options;
    std::int64_t m_step_size_down = 0, m_shape = 0;
    double m_total_size = 0, m_step_ratio = 0;
};

}  // namespace

Scheduler cyclic_lr(const Optimizer& optimizer, const CyclicOptions& options) {
    if (options.step_size_up < 1 || options.step_size_down.value_or(1) < 1) {
        throw EngineError({ErrorCode::BadPlan, "cyclic: a step size is below 1", "use whole numbers from 1 up"});
    }
    auto core = std::make_shared<CyclicLr>(optimizer.core(), options);
    core->initial_step();
    return Scheduler(std::move(core));
}

}  // namespace mantissa
