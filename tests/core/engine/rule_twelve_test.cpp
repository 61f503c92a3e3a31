// A non-finite loss never reaches a weight or a batch norm statistic unless asked for: every answer to it, in
// every mode.
#include <gtest/gtest.h>

#include <array>

#include "small_model.h"

namespace mantissa {
namespace {

struct LinearNormLinear : torch::nn::Module {
    LinearNormLinear() {
        torch::manual_seed(3);
        first = register_module("first", torch::nn::Linear(2, 4));
        norm = register_module("norm", torch::nn::BatchNorm1d(4));
        last = register_module("last", torch::nn::Linear(4, 1));
    }
    torch::Tensor forward(const torch::Tensor& input) { return last(norm(first(input))); }
    torch::nn::Linear first{nullptr}, last{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

std::vector<torch::Tensor> copies(const std::vector<torch::Tensor>& tensors) {
    std::vector<torch::Tensor> result;
    for (const auto& tensor : tensors) result.push_back(tensor.detach().clone());
    return result;
}

bool equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return torch::equal(x, y); });
}

using Case = std::tuple<Precision, OnNonfinite>;

class RuleTwelve : public testing::TestWithParam<Case> {
  protected:
    RuleTwelve() {
        auto raw = std::make_shared<LinearNormLinear>();
        auto raw_optimizer = adamw(raw->parameters(), {.learning_rate = 0.01});
        m_optimizer.emplace(m_accelerator.prepare(std::move(raw_optimizer)));
        m_model.emplace(m_accelerator.prepare(std::move(raw)));
    }
    static AcceleratorOptions options() {
        const auto [precision, rule] = GetParam();
        AcceleratorOptions options;
        options.mixed_precision = precision;
        options.device = "cpu";
        options.gradient_accumulation_steps = 2;
        options.loss_scale.initial = 256;
        options.on_nonfinite = rule;
        return options;
    }
    // A window of two micro-batches; true when it was refused with NonFinite.
    bool window(double of_first, double of_second) {
        m_optimizer->zero_grad();
        for (const double value : {of_first, of_second}) {
            m_accelerator.accumulate();
            torch::Tensor loss;
            {
                const auto amp = m_accelerator.autocast();
                loss = (*m_model)(torch::tensor({{value, 1.0}, {2.0, -1.0}, {0.5, 3.0}}, at::kFloat))
                           .square()
                           .mean();
            }
            m_accelerator.backward(loss);
        }
        try {
            m_optimizer->step();
        } catch (const NonFinite& refusal) {
            EXPECT_EQ(refusal.where(), NonFinite::Where::Loss);
            EXPECT_EQ(refusal.error().message.substr(0, 24), "the loss is NaN at step ");
            return true;
        }
        return false;
    }
    std::vector<torch::Tensor> weights() { return copies(m_model->parameters()); }
    std::vector<torch::Tensor> statistics() { return copies(m_model->unwrap()->buffers()); }

    Accelerator m_accelerator{options()};
    std::optional<PreparedOptimizer> m_optimizer;
    std::optional<PreparedModel<std::shared_ptr<LinearNormLinear>>> m_model;
};

TEST_P(RuleTwelve, NothingMovesInABadWindowUnlessAskedFor) {
    const auto [precision, rule] = GetParam();
    EXPECT_FALSE(window(1, 2));
    const auto weights_before = weights(), statistics_before = statistics();
    EXPECT_EQ(statistics_before.back().item<std::int64_t>(), 2);  // num_batches_tracked
    const bool refused = window(1, infinity);
    EXPECT_EQ(refused, rule == OnNonfinite::Stop || rule == OnNonfinite::Pause);
    const bool applied = rule == OnNonfinite::Mark && precision != Precision::Fp16;
    EXPECT_EQ(m_accelerator.optimizer_step_was_skipped(), !applied);
    EXPECT_EQ(equal(weights_before, weights()), !applied);
    EXPECT_EQ(equal(statistics_before, statistics()), !applied);
    if (applied) return;
    EXPECT_FALSE(window(1, 2));  // and training can go on
    EXPECT_FALSE(equal(weights_before, weights()));
    EXPECT_EQ(statistics().back().item<std::int64_t>(), 4);
    for (const auto& weight : weights()) EXPECT_TRUE(at::isfinite(weight).all().item<bool>());
}

std::string name_of(const testing::TestParamInfo<Case>& one) {
    constexpr std::array answers{"stop", "pause", "skip", "mark"};
    const auto [precision, rule] = one.param;
    return std::string(to_string(precision)) + "_" + answers.at(static_cast<std::size_t>(rule));
}

INSTANTIATE_TEST_SUITE_P(EveryModeAndAnswer, RuleTwelve,
                         testing::Combine(testing::Values(Precision::No, Precision::Fp16, Precision::Bf16),
                                          testing::Values(OnNonfinite::Stop, OnNonfinite::Pause,
                                                          OnNonfinite::Skip, OnNonfinite::Mark)),
                         name_of);

}  // namespace
}  // namespace mantissa
