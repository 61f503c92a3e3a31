// What a step found, read once or some steps later. The operations are those that run on a GPU; here they run on the CPU.
#include "engine/deferred_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/accelerator.h"

namespace mantissa {
namespace {

using testing::HasSubstr;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct NormedNet : torch::nn::Module {
    NormedNet() {
        torch::manual_seed(5);
        first = register_module("first", torch::nn::Linear(3, 8));
        norm = register_module("norm", torch::nn::BatchNorm1d(8));
        last = register_module("last", torch::nn::Linear(8, 1));
    }
    torch::Tensor forward(const torch::Tensor& input) { return last(norm(first(input))); }
    torch::nn::Linear first{nullptr}, last{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

AcceleratorOptions options_of(HostLooks looks, OnNonfinite rule = OnNonfinite::Stop) {
    AcceleratorOptions options;
    options.mixed_precision = Precision::No;
    options.device = "cpu";
    options.host_looks = looks;
    options.on_nonfinite = rule;
    return options;
}

class Trainer {
  public:
    explicit Trainer(const AcceleratorOptions& options, OptimizerImplementation implementation = OptimizerImplementation::Fused)
        : m_accelerator(options) {
        auto net = std::make_shared<NormedNet>();
        m_parameters = net->parameters();
        auto optimizer = adamw(net->parameters(), {.learning_rate = 0.05, .weight_decay = 0.01, .implementation = implementation});
        m_optimizer.emplace(m_accelerator.prepare(std::move(optimizer)));
        m_model.emplace(m_accelerator.prepare(std::move(net)));
    }
    void step(double factor = 1) {
        torch::manual_seed(100 + m_steps++);
        m_optimizer->zero_grad();
        m_accelerator.accumulate();
        const torch::Tensor input = torch::randn({6, 3});
        torch::Tensor loss;
        {
            const auto amp = m_accelerator.autocast();
            loss = ((*m_model)(input) * factor).square().mean();
        }
        m_accelerator.backward(loss);
        m_optimizer->step();
    }
    [[nodiscard]] std::vector<torch::Tensor> state() {
        std::vector<torch::Tensor> all;
        for (const auto& tensor : m_parameters) all.push_back(tensor.detach().clone());
        for (const auto& tensor : m_model->unwrap()->buffers()) all.push_back(tensor.detach().clone());
        for (const auto& [name, tensor] : m_optimizer->core().state().tensors) all.push_back(tensor.detach().clone());
        return all;
    }
    Accelerator& accelerator() { return m_accelerator; }
    PreparedOptimizer& optimizer() { return *m_optimizer; }

  private:
    Accelerator m_accelerator;
    std::optional<PreparedOptimizer> m_optimizer;
    std::optional<PreparedModel<std::shared_ptr<NormedNet>>> m_model;
    std::vector<torch::Tensor> m_parameters;
    int m_steps = 0;
};

void expect_equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::equal(a[i], b[i])) << i;
}

TEST(HostLooks, LaterTrainsToTheSameBitsAndTellsTheSameFacts) {
    Trainer now(options_of(HostLooks::AsNeeded)), once(options_of(HostLooks::OncePerStep)), later(options_of(HostLooks::Later));
    std::vector<StepFacts> at_once, settled;
    for (int i = 0; i < 7; ++i) {
        now.step();
        once.step();
        later.step();
        EXPECT_TRUE(later.accelerator().last_step().is_pending);
        at_once.push_back(now.accelerator().last_step());
        EXPECT_EQ(once.accelerator().last_step().loss, at_once.back().loss);
        EXPECT_NEAR(once.accelerator().last_step().grad_norm, at_once.back().grad_norm, 1e-9 * at_once.back().grad_norm);
    }
    for (const SettledStep& one : later.accelerator().settle(true)) {
        EXPECT_FALSE(one.refusal.has_value());
        settled.push_back(one.facts);
    }
    expect_equal(now.state(), later.state());
    expect_equal(now.state(), once.state());
    ASSERT_EQ(settled.size(), 7u);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(settled[i].step, static_cast<std::int64_t>(i));
        EXPECT_EQ(settled[i].losses, at_once[i].losses);
        EXPECT_EQ(settled[i].learning_rate, at_once[i].learning_rate);
        EXPECT_NEAR(settled[i].grad_norm, at_once[i].grad_norm, 1e-9 * at_once[i].grad_norm);
        EXPECT_FALSE(settled[i].is_pending || settled[i].skipped || settled[i].nonfinite_loss);
    }
    EXPECT_EQ(later.accelerator().window().applied, 7);
}

// The state machine of the sticky flag: clean, then bad, then held until somebody has looked.
TEST(HostLooks, ABadStepAndAllThatFollowMoveNothingUntilTheHostHasLooked) {
    Trainer later(options_of(HostLooks::Later));
    later.step();
    later.step();
    const auto before = later.state();
    later.step(not_a_number);
    later.step();
    later.step();
    expect_equal(before, later.state());
    const auto settled = later.accelerator().settle(true);
    ASSERT_EQ(settled.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(settled[i].facts.skipped, i >= 2) << i;
        EXPECT_EQ(settled[i].refusal.has_value(), i == 2) << "the first bad step is told, once";
        EXPECT_EQ(settled[i].facts.nonfinite_loss, i == 2) << i;
    }
    EXPECT_EQ(settled[2].refusal->step(), 2);
    EXPECT_EQ(settled[2].refusal->where(), NonFinite::Where::Loss);
    EXPECT_EQ(settled[2].refusal->error().message, "the loss is NaN at step 2; no weight was moved");
    EXPECT_EQ(later.accelerator().window().applied, 2);
    // The optimizer counts two updates again, as one that stopped at once would.
    Trainer stopped(options_of(HostLooks::AsNeeded));
    stopped.step();
    stopped.step();
    EXPECT_THROW(stopped.step(not_a_number), NonFinite);
    EXPECT_EQ(later.optimizer().core().state().facts, stopped.optimizer().core().state().facts);
    expect_equal(stopped.state(), later.state());
}

TEST(HostLooks, AGradientThatIsBadAloneIsNamed) {
    DeferredFindings findings(true);
    const auto at = [](std::int64_t step) {
        StepFacts facts;
        facts.step = step;
        return facts;
    };
    const torch::Tensor first = torch::ones({3}), second = torch::ones({2}), good = torch::ones({3});
    const torch::Tensor bad = torch::full({2}, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(findings.look(at(4), {torch::tensor(1.5)}, {good, good}, {first, second}).item<float>(), 0);
    EXPECT_EQ(findings.look(at(5), {torch::tensor(1.5)}, {good, bad}, {first, second}).item<float>(), 1);
    EXPECT_EQ(findings.look(at(6), {torch::tensor(1.5)}, {good, good}, {first, second}).item<float>(), 1) << "it sticks";
    const auto arrived = findings.take(true);
    ASSERT_EQ(arrived.size(), 3u);
    EXPECT_FALSE(arrived[0].is_first_bad || arrived[0].facts.skipped);
    EXPECT_NEAR(arrived[0].facts.grad_norm, std::sqrt(6), 1e-15);
    EXPECT_TRUE(arrived[1].is_first_bad && arrived[1].facts.skipped);
    EXPECT_TRUE(arrived[1].bad_parameter.is_same(second));
    EXPECT_GE(arrived[1].facts.nonfinite_grads, 1);
    EXPECT_FALSE(arrived[2].is_first_bad);
    EXPECT_TRUE(arrived[2].facts.skipped);
    EXPECT_EQ(findings.waiting(), 0u);
}

TEST(HostLooks, MarkLetsABadStepThrough) {
    Trainer later(options_of(HostLooks::Later, OnNonfinite::Mark));
    later.step();
    later.step(not_a_number);
    const auto settled = later.accelerator().settle(true);
    ASSERT_EQ(settled.size(), 2u);
    EXPECT_TRUE(settled[1].facts.nonfinite_loss);
    EXPECT_FALSE(settled[1].facts.skipped);
    EXPECT_FALSE(settled[1].refusal.has_value());
    EXPECT_TRUE(later.state().front().isnan().any().item<bool>());
}

TEST(HostLooks, LaterIsRefusedWhereItCannotHold) {
    const auto sentence = [](const auto& call) -> std::string {
        try {
            call();
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return "accepted";
    };
    AcceleratorOptions skips = options_of(HostLooks::Later, OnNonfinite::Skip);
    EXPECT_THAT(sentence([&] { Accelerator one(skips); }), HasSubstr("pause and skip"));
    Trainer exact(options_of(HostLooks::Later), OptimizerImplementation::Exact);
    EXPECT_THAT(sentence([&] { exact.step(); }), HasSubstr("fused kernels of one optimizer"));
    Trainer clipped(options_of(HostLooks::Later));
    clipped.step();
    clipped.accelerator().accumulate();
    clipped.accelerator().backward(torch::ones({}, torch::kFloat).requires_grad_() * 2);
    EXPECT_THAT(sentence([&] { clipped.accelerator().unscale_gradients(); }), HasSubstr("can't be clipped or unscaled"));
}

// One process has one mode, so fp16's are cases of their own (ctest starts each test in a process of its own).
TEST(HostLooksFp16, LaterIsRefusedAndOnceSkipsWhatAsNeededSkips) {
    AcceleratorOptions options = options_of(HostLooks::AsNeeded);
    options.mixed_precision = Precision::Fp16;
    options.loss_scale.initial = 16777216;  // 2^24: the first gradients overflow
    Trainer now(options);
    options.host_looks = HostLooks::OncePerStep;
    Trainer once(options);
    int skipped = 0;
    for (int i = 0; i < 14; ++i) {
        now.step();
        once.step();
        const StepFacts &a = now.accelerator().last_step(), &b = once.accelerator().last_step();
        EXPECT_EQ(a.skipped, b.skipped) << i;
        EXPECT_EQ(a.found_inf, b.found_inf) << i;
        EXPECT_EQ(a.losses, b.losses) << i;
        EXPECT_EQ(a.nonfinite_grads, b.nonfinite_grads) << i;
        EXPECT_EQ(a.loss_scale_after, b.loss_scale_after) << i;
        skipped += a.skipped ? 1 : 0;
    }
    EXPECT_GT(skipped, 2);
    EXPECT_LT(skipped, 14);
    expect_equal(now.state(), once.state());
    options.host_looks = HostLooks::Later;
    EXPECT_THROW(Accelerator{options}, EngineError);
}

}  // namespace
}  // namespace mantissa
