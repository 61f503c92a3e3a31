#pragma once
// The smallest model: one weight tensor times its input. What its gradient is, the loss decides.
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "engine/accelerator.h"

namespace mantissa {

struct SmallModel : torch::nn::Module {
    explicit SmallModel(torch::Tensor start) : weight(register_parameter("weight", std::move(start))) {}
    torch::Tensor forward(const torch::Tensor& input) { return weight * input; }
    torch::Tensor weight;
};

inline std::shared_ptr<SmallModel> small_model(double start = 1.0) {
    return std::make_shared<SmallModel>(torch::full({1}, start));
}

/// lr = base / (1 + epoch): what the reports of the field call LambdaLR(1 / (1 + e)).
class HarmonicLr : public SchedulerCore {
  public:
    using SchedulerCore::SchedulerCore;
    double next_rate(double, double base, std::size_t) override { return base / (1 + static_cast<double>(m_last_epoch)); }
};

inline Scheduler harmonic(const Optimizer& optimizer) {
    auto core = std::make_shared<HarmonicLr>(optimizer.core());
    core->initial_step();
    return Scheduler(std::move(core));
}

inline double value(const torch::Tensor& tensor) { return tensor.item<double>(); }

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace mantissa
