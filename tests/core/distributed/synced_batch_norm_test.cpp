// Batch norm over the batches of two real processes, beside one process with the whole batch.
#include "engine/synced_batch_norm.h"

#include <gtest/gtest.h>

#include "../../support/exact_numbers.h"
#include "../../support/forked_ranks.h"
#include "engine/accelerator.h"

namespace mantissa {
namespace {

using test::exact;
using test::numbers;
using Group = std::shared_ptr<ProcessGroup>;

void expect_near(const std::vector<double>& ours, const std::vector<double>& expected, double gap, const std::string& what) {
    ASSERT_EQ(ours.size(), expected.size()) << what;
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], expected[i], gap) << what << " " << i;
}

// --- the operation alone

// Rows of one batch; process 0 has the first `first` of them.
std::vector<torch::Tensor> normalised(const Group& group, std::int64_t first, bool images) {
    torch::manual_seed(4);
    const std::int64_t rows = 7;
    torch::Tensor all = torch::randn({rows, 3, 2, 2}, at::kDouble).mul(3).add(100);
    torch::Tensor towards = torch::randn({rows, 3, 2, 2}, at::kDouble);
    if (!images) all = all.flatten(2).select(2, 0).contiguous(), towards = towards.flatten(2).select(2, 0).contiguous();
    const std::int64_t begin = !group || group->rank() == 0 ? 0 : first, end = !group || group->rank() == 1 ? rows : first;
    torch::Tensor input = all.slice(0, begin, end).clone().requires_grad_();
    const torch::Tensor weight = torch::tensor({0.5, 2.0, -1.0}, at::kDouble).requires_grad_(), bias = torch::tensor({1.0, 0.0, 3.0}, at::kDouble).requires_grad_();
    const torch::Tensor mean = torch::ones({3}, at::kDouble), variance = torch::full({3}, 2.0, at::kDouble);
    const auto forward = [&] { return at::batch_norm(input, weight, bias, mean, variance, /*training=*/true, 0.1, 1e-5, false); };
    torch::Tensor output;
    if (group) {
        const SyncedBatchNormScope scope(group);
        output = forward();
    } else {
        output = forward();
    }
    (output * towards.slice(0, begin, end)).sum().backward();
    torch::Tensor of_weight = weight.grad(), of_bias = bias.grad();
    if (group) {
        group->all_reduce(of_weight, ReduceOperation::Sum);
        group->all_reduce(of_bias, ReduceOperation::Sum);
    }
    return {output, input.grad(), of_weight, of_bias, mean, variance};
}

TEST(SyncedBatchNorm, outputs_gradients_and_statistics_are_those_of_the_whole_batch) {
    for (const bool images : {true, false}) {
        for (const std::int64_t first : {3, 1, 0, 7}) {  // equal or not, and a process without a sample
            const auto ranks = test::run_ranks(2, [&](const Group& group) {
                std::string text;
                for (const auto& one : normalised(group, first, images)) text += exact(one) + "\n";
                return text;
            });
            const auto whole = normalised(nullptr, first, images);
            std::istringstream zero(ranks[0]), one(ranks[1]);
            for (std::size_t part = 0; part < whole.size(); ++part) {
                std::string line_0, line_1;
                std::getline(zero, line_0);
                std::getline(one, line_1);
                const std::string what = "part " + std::to_string(part) + ", first " + std::to_string(first);
                if (part < 2) {  // rows of each process
                    expect_near(numbers(line_0 + line_1), numbers(exact(whole[part])), 1e-11, what);
                } else {
                    EXPECT_EQ(line_0, line_1) << what;
                    expect_near(numbers(line_0), numbers(exact(whole[part])), 1e-11, what);
                }
            }
        }
    }
}

TEST(SyncedBatchNorm, evaluation_and_a_pass_without_gradients_ask_nobody) {
    const auto ranks = test::run_ranks(2, [](const Group& group) {
        torch::nn::BatchNorm1d norm(1);
        const torch::Tensor own = torch::tensor({{-1.0F}, {1.0F}}).mul(static_cast<double>(1 + group->rank()));
        if (group->rank() == 1) return std::string();  // a call that waits for this process would fail
        const SyncedBatchNormScope scope(group);
        std::string text;
        {
            const torch::NoGradGuard no_grad;
            text += exact(norm(own));
        }
        norm->eval();
        return text + exact(norm(own)) + exact(norm->running_mean);
    });
    const auto values = numbers(ranks[0]);
    ASSERT_EQ(values.size(), 5U);
    EXPECT_NEAR(values[1], 1, 1e-5);                       // deviation 1 in its own batch
    EXPECT_NEAR(values[3], 1 / std::sqrt(1.1), 1e-5);      // running variance 0.9 + 0.1 · 2
    EXPECT_EQ(values[4], 0);
}

TEST(SyncedBatchNorm, holds_for_torchscript_and_ends_with_its_scope) {
    const auto ranks = test::run_ranks(2, [](const Group& group) {
        const auto unit = torch::jit::compile(
            "def norm(x):\n  return torch.batch_norm(x, None, None, None, None, True, 0.1, 0.0, False)\n");
        const torch::Tensor own = torch::tensor({{0.0}, {2.0}}, at::kDouble).add(4.0 * static_cast<double>(group->rank()));
        std::string text;
        {
            const SyncedBatchNormScope scope(group);
            text += exact(unit->run_method("norm", own).toTensor());
        }
        return text + exact(unit->run_method("norm", own).toTensor());
    });
    // All of 0 2 4 6: mean 3, variance 5.
    const double root = std::sqrt(5.0);
    expect_near(numbers(ranks[0]), {-3 / root, -1 / root, -1, 1}, 1e-12, "process 0");
    expect_near(numbers(ranks[1]), {1 / root, 3 / root, -1, 1}, 1e-12, "process 1");
}

// --- a whole training

struct NetImpl : torch::nn::Module {
    NetImpl() {
        conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, 2)));
        norm = register_module("norm", torch::nn::BatchNorm2d(4));
        head = register_module("head", torch::nn::Linear(16, 3));
    }
    torch::Tensor forward(const torch::Tensor& x) { return head(torch::relu(norm(conv(x))).flatten(1)); }
    torch::nn::Conv2d conv{nullptr};
    torch::nn::BatchNorm2d norm{nullptr};
    torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Net);

// Weights and statistics after 12 steps, each process with its half of every batch of 8.
std::string trained(const Group& group, Precision mode, bool synced) {
    AcceleratorOptions options{.mixed_precision = mode, .device = "cpu", .loss_scale = {.initial = 1024}, .sync_batch_norm = synced, .processes = group};
    Accelerator accelerator(options);
    torch::manual_seed(5);
    const torch::Tensor features = torch::randn({96, 1, 3, 3}), labels = features.flatten(1).slice(1, 0, 3).argmax(1);
    torch::manual_seed(3);
    Net net;
    auto values = net->parameters();
    for (const auto& one : net->buffers()) values.push_back(one);
    auto raw = sgd(net->parameters(), {.learning_rate = 0.1, .momentum = 0.9});
    auto [model, optimizer] = accelerator.prepare(std::move(net), std::move(raw));
    const std::int64_t ranks = group ? 2 : 1, rank = group ? group->rank() : 0, own = 8 / ranks;
    for (std::int64_t step = 0; step < 12; ++step) {
        const std::int64_t begin = step * 8 + rank * own;
        torch::Tensor loss;
        {
            const AutocastScope scope = accelerator.autocast();
            loss = torch::nn::functional::cross_entropy(model(features.slice(0, begin, begin + own)), labels.slice(0, begin, begin + own));
        }
        accelerator.backward(loss);
        optimizer.step();
        optimizer.zero_grad();
    }
    std::string text;
    for (const auto& one : values) text += exact(one);
    return text;
}

class SyncedBatchNormIn : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Modes, SyncedBatchNormIn, testing::Values(Precision::No, Precision::Fp16, Precision::Bf16),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST_P(SyncedBatchNormIn, two_processes_train_as_one_with_the_doubled_batch) {
    const Precision mode = GetParam();
    const auto synced = test::run_ranks(2, [&](const Group& group) { return trained(group, mode, true); });
    EXPECT_EQ(synced[0], synced[1]);
    const auto whole = numbers(trained(nullptr, mode, true));
    expect_near(numbers(synced[0]), whole, mode == Precision::No ? 5e-6 : 3e-2, "value");
    // Each with its own statistics, as upstream: another training.
    const auto apart = numbers(test::run_ranks(2, [&](const Group& group) { return trained(group, mode, false); })[0]);
    double gap = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) gap = std::max(gap, std::fabs(apart[i] - whole[i]));
    EXPECT_GT(gap, 0.05);
}

}  // namespace
}  // namespace mantissa
