// Real processes that meet through Gloo and train one model with c10d's Reducer. What two ranks compute is compared with one process
// that has the doubled batch, and both ranks with each other, to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "../../support/exact_numbers.h"
#include "../../support/forked_ranks.h"
#include "engine/accelerator.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;
using test::exact;
using test::numbers;
using Group = std::shared_ptr<ProcessGroup>;

AcceleratorOptions options_of(const Group& group, Precision mode, std::int64_t accumulation = 1) {
    return {.mixed_precision = mode, .device = "cpu", .gradient_accumulation_steps = accumulation,
            .loss_scale = {.initial = 1024}, .on_nonfinite = OnNonfinite::Skip, .processes = group};
}

// --- calls between processes

std::string calls(const Group& group) {
    Accelerator accelerator(options_of(group, Precision::No));
    const auto rank = static_cast<float>(group->rank());
    std::ostringstream text;
    text << accelerator.num_processes() << ' ' << accelerator.process_index() << ' ' << accelerator.is_main_process() << '\n';
    text << exact(accelerator.gather(torch::tensor({rank, 10 + rank}))) << '\n';
    text << exact(accelerator.reduce(torch::tensor({1 + rank}), ReduceOperation::Sum)) << exact(accelerator.reduce(torch::tensor({1 + rank}), ReduceOperation::Mean))
         << '\n';
    torch::Tensor sent = torch::tensor({7.0F * rank}), largest = torch::tensor({rank});
    group->broadcast(sent, group->size() - 1);
    group->all_reduce(largest, ReduceOperation::Max);
    text << exact(sent) << exact(largest) << '\n';
    torch::Tensor column = torch::arange(4, at::kFloat).reshape({2, 2}).t().add(rank);  // not contiguous
    group->all_reduce(column, ReduceOperation::Sum);
    text << exact(column) << '\n';
    accelerator.wait_for_everyone();
    const torch::Tensor own = torch::full({group->rank() + 1, 2}, rank);
    text << exact(accelerator.gather(accelerator.pad_across_processes(own))) << '\n';
    for (const auto& one : gather_objects<std::string>(group.get(), {"rank " + std::to_string(group->rank())})) text << one << ';';
    return text.str();
}

TEST(GlooGroup, every_call_of_two_processes) {
    const auto texts = test::run_ranks(2, calls);
    const std::string after_first_line =
        exact(torch::tensor({0, 10, 1, 11})) + "\n" + exact(torch::tensor({3.0, 1.5})) + "\n" + exact(torch::tensor({7, 1})) + "\n" +
        exact(torch::tensor({1, 5, 3, 7})) + "\n" + exact(torch::tensor({0, 0, 0, 0, 1, 1, 1, 1})) + "\nrank 0;rank 1;";
    EXPECT_EQ(texts[0], "2 0 1\n" + after_first_line);
    EXPECT_EQ(texts[1], "2 1 0\n" + after_first_line);
}

TEST(GlooGroup, three_processes) {
    const auto texts = test::run_ranks(3, [](const Group& group) {
        torch::Tensor sum = torch::tensor({static_cast<double>(group->rank() + 1)}, at::kDouble);
        group->all_reduce(sum, ReduceOperation::Sum);
        return exact(sum);
    });
    EXPECT_EQ(texts, (std::vector<std::string>(3, exact(torch::tensor({6})))));
}

TEST(GlooGroup, a_place_that_cannot_be_is_refused) {
    EXPECT_THAT(describe(join_group({.rank = 2, .size = 2}).error()), HasSubstr("there is no process 2 of 2"));
}

TEST(GlooGroup, missing_processes_are_told_within_the_time) {
    const auto ends = test::fork_ranks(1, {.timeout_ms = 1500}, [](RankPlace place) {
        place.size = 2;
        const auto group = join_group(place);
        return group ? std::string("joined") : describe(group.error());
    });
    EXPECT_THAT(ends[0].text, HasSubstr("process 0 of 2 could not meet the others"));
    EXPECT_THAT(ends[0].text, HasSubstr("within 1.5 s"));
}

TEST(GlooGroup, a_process_that_dies_ends_the_others_call) {
    const auto ends = test::fork_ranks(2, {.timeout_ms = 5000}, [](const RankPlace& place) -> std::string {
        auto group = join_group(place);
        if (!group) throw std::runtime_error(describe(group.error()));
        (*group)->barrier();
        if (place.rank == 1) ::_exit(7);
        try {
            (*group)->barrier();
        } catch (const EngineError& error) {
            return std::string(error.error().code == ErrorCode::WorkerLost ? "lost: " : "other: ") + error.error().message;
        }
        return "went on";
    });
    EXPECT_THAT(ends[0].text, HasSubstr("lost: barrier of process 0 of 2 failed")) << "wait status " << ends[0].wait_status;
    EXPECT_EQ(WEXITSTATUS(ends[1].wait_status), 7);
}

// --- one model on two processes

struct NetImpl : torch::nn::Module {
    NetImpl() {
        first = register_module("first", torch::nn::Linear(6, 16));
        second = register_module("second", torch::nn::Linear(16, 3));
    }
    torch::Tensor forward(const torch::Tensor& x) { return second(torch::relu(first(x))); }
    torch::nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

struct Data {
    torch::Tensor features, labels;
};
Data data(std::int64_t rows) {
    torch::manual_seed(5);
    torch::Tensor features = torch::randn({rows, 6});
    return {features, features.slice(1, 0, 3).argmax(1)};
}

constexpr std::int64_t steps = 12, batch = 4;

// Weights after 12 steps; each process takes its half of every doubled batch.
std::string trained(const Group& group, Precision mode, std::int64_t accumulation) {
    const std::int64_t ranks = group ? group->size() : 1, rank = group ? group->rank() : 0;
    Accelerator accelerator(options_of(group, mode, accumulation));
    torch::manual_seed(3 + rank);  // weights differ until prepare() sends the main process's
    Net net;
    auto weights = net->parameters();
    auto raw = sgd(net->parameters(), {.learning_rate = 0.1, .momentum = 0.9});
    auto [model, optimizer] = accelerator.prepare(std::move(net), std::move(raw));
    const Data all = data(steps * batch * 2);
    const std::int64_t own = 2 * batch / ranks;
    for (std::int64_t step = 0; step < steps; ++step) {
        accelerator.accumulate(model);
        const std::int64_t begin = step * 2 * batch + rank * own;
        torch::Tensor loss;
        {
            const AutocastScope scope = accelerator.autocast();
            loss = torch::nn::functional::cross_entropy(model(all.features.slice(0, begin, begin + own)),
                                                        all.labels.slice(0, begin, begin + own));
        }
        accelerator.backward(loss);
        accelerator.clip_grad_norm(weights, 0.7);
        optimizer.step();
        optimizer.zero_grad();
    }
    std::string text;
    for (const auto& one : weights) text += exact(one);
    return text;
}

class TwoRanksIn : public testing::TestWithParam<std::tuple<Precision, std::int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Modes, TwoRanksIn,
                         testing::Combine(testing::Values(Precision::No, Precision::Fp16, Precision::Bf16), testing::Values(1, 3)),
                         [](const auto& one) {
                             return std::string(to_string(std::get<0>(one.param))) + "_accumulation_" +
                                    std::to_string(std::get<1>(one.param));
                         });

TEST_P(TwoRanksIn, train_as_one_process_with_the_doubled_batch) {
    const auto [mode, accumulation] = GetParam();
    const auto run = [mode = mode, accumulation = accumulation](const Group& group) { return trained(group, mode, accumulation); };
    const auto two = test::run_ranks(2, run);
    EXPECT_EQ(two[0], two[1]);  // to the bit
    const auto ours = numbers(two[0]), expected = numbers(run(nullptr));
    ASSERT_EQ(ours.size(), expected.size());
    ASSERT_EQ(ours.size(), 6U * 16 + 16 + 16 * 3 + 3);
    // The sums have another order, and in half precision the products are rounded in each half batch by itself.
    const double largest_gap = mode == Precision::No ? 2e-6 : mode == Precision::Fp16 ? 2e-3 : 2e-2;
    double moved = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], expected[i], largest_gap) << "weight " << i;
        moved = std::max(moved, std::fabs(expected[i]));
    }
    EXPECT_GT(moved, 0.4);  // it did train
}

TEST(TwoRanks, c10ds_buckets_give_what_averaging_one_by_one_gives) {
    // The plain way of any ProcessGroup, on the same processes.
    class Plain : public ProcessGroup {
      public:
        explicit Plain(Group inner) : m_inner(std::move(inner)) {}
        [[nodiscard]] std::int64_t rank() const override { return m_inner->rank(); }
        [[nodiscard]] std::int64_t size() const override { return m_inner->size(); }
        [[nodiscard]] std::vector<torch::Tensor> all_gather(const torch::Tensor& t) override { return m_inner->all_gather(t); }
        void all_reduce(torch::Tensor& t, ReduceOperation op) override { m_inner->all_reduce(t, op); }
        void broadcast(torch::Tensor& t, std::int64_t from) override { m_inner->broadcast(t, from); }
        void barrier() override { m_inner->barrier(); }

      private:
        Group m_inner;
    };
    const auto reduced = test::run_ranks(2, [](const Group& group) { return trained(group, Precision::Fp16, 2); });
    const auto plain =
        test::run_ranks(2, [](const Group& group) { return trained(std::make_shared<Plain>(group), Precision::Fp16, 2); });
    EXPECT_EQ(reduced, plain);
}

// --- skips, unused parameters, statistics

TEST(TwoRanks, an_overflow_on_one_is_a_skip_on_both) {
    const auto texts = test::run_ranks(2, [](const Group& group) {
        auto options = options_of(group, Precision::Fp16);
        options.loss_scale = {.initial = 1024, .growth_interval = 3};
        Accelerator accelerator(options);
        torch::manual_seed(1);
        Net net;
        auto raw = sgd(net->parameters(), {.learning_rate = 0.01});
        const torch::Tensor bias = net->second->bias;
        auto [model, optimizer] = accelerator.prepare(std::move(net), std::move(raw));
        std::ostringstream text;
        for (int step = 0; step < 12; ++step) {
            torch::Tensor x = torch::ones({2, 6}).mul(1 + 0.1 * static_cast<double>(group->rank()));
            torch::Tensor loss = model(x).sum();
            // Each rank has bad batches of its own.
            if (step % 4 == 1 + 2 * group->rank()) loss = loss * 1e36;
            accelerator.backward(loss);
            optimizer.step();
            optimizer.zero_grad();
            text << optimizer.step_was_skipped() << ' ' << accelerator.loss_scale_state()->scale << ' ' << exact(bias) << '\n';
        }
        return text.str();
    });
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_THAT(texts[0], ::testing::StartsWith("0 1024 "));
    std::int64_t skips = 0;
    std::istringstream lines(texts[0]);
    for (std::string line; std::getline(lines, line);) skips += line.starts_with("1 ") ? 1 : 0;
    EXPECT_EQ(skips, 6);
}

struct BranchesImpl : torch::nn::Module {
    BranchesImpl() {
        left = register_module("left", torch::nn::Linear(2, 1));
        right = register_module("right", torch::nn::Linear(2, 1));
        never = register_module("never", torch::nn::Linear(2, 1));
    }
    torch::Tensor forward(const torch::Tensor& x, bool goes_left) { return goes_left ? left(x) : right(x); }
    torch::nn::Linear left{nullptr}, right{nullptr}, never{nullptr};
};
TORCH_MODULE(Branches);

TEST(TwoRanks, parameters_that_one_process_leaves_out_get_half_of_the_others_gradient) {
    const auto texts = test::run_ranks(2, [](const Group& group) {
        Accelerator accelerator(options_of(group, Precision::No));
        Branches net;
        auto weights = net->named_parameters();
        auto raw = sgd(net->parameters(), {.learning_rate = 0.1});
        auto [model, optimizer] = accelerator.prepare(std::move(net), std::move(raw));
        std::ostringstream text;
        for (int step = 0; step < 3; ++step) {
            optimizer.zero_grad();
            accelerator.backward(model(torch::tensor({{2.0F, 6.0F}}), (group->rank() + step) % 2 == 0).sum());
            text << exact(weights["left.weight"].grad()) << exact(weights["right.weight"].grad())
                 << weights["never.weight"].grad().defined() << '\n';
            optimizer.step();
        }
        return text.str();
    });
    const std::string line = exact(torch::tensor({1, 3})) + exact(torch::tensor({1, 3})) + "0\n";
    EXPECT_EQ(texts[0], line + line + line);
    EXPECT_EQ(texts[1], texts[0]);
}

TEST(TwoRanks, a_network_of_two_models_with_an_older_forward_pass) {
    // The generator's forward lies before the discriminator's step; its gradients must be averaged all the same.
    const auto texts = test::run_ranks(2, [](const Group& group) {
        Accelerator accelerator(options_of(group, Precision::No));
        torch::manual_seed(2);
        torch::nn::Linear raw_g(1, 1), raw_d(1, 1);
        const torch::Tensor weight = raw_g->weight;
        auto raw_og = sgd(raw_g->parameters(), {.learning_rate = 0.1});
        auto raw_od = sgd(raw_d->parameters(), {.learning_rate = 0.1});
        auto [g, d, og, od] = accelerator.prepare(std::move(raw_g), std::move(raw_d), std::move(raw_og), std::move(raw_od));
        std::string text;
        for (int step = 0; step < 3; ++step) {
            const torch::Tensor fake = g(torch::full({1, 1}, 1.0F + static_cast<float>(group->rank())));
            accelerator.backward(d(fake.detach()).sum());
            od.step();
            od.zero_grad();
            accelerator.backward(d(fake).sum());
            og.step();
            og.zero_grad();
            od.zero_grad();
            text += exact(weight);
        }
        return text;
    });
    EXPECT_EQ(texts[0], texts[1]);
}

TEST(TwoRanks, batch_norms_statistics_are_the_main_processs) {
    const auto texts = test::run_ranks(2, [](const Group& group) {
        Accelerator accelerator(options_of(group, Precision::No));
        torch::nn::BatchNorm1d norm(1);
        const torch::Tensor mean = norm->running_mean;
        auto raw = sgd(norm->parameters(), {.learning_rate = 0.0});
        auto [model, optimizer] = accelerator.prepare(std::move(norm), std::move(raw));
        std::string text;
        for (int step = 0; step < 3; ++step) {
            // Means 0 on the main process, 10 on the other.
            const double shift = 10.0 * static_cast<double>(group->rank());
            accelerator.backward(model(torch::tensor({{-1.0F}, {1.0F}}).add(shift)).sum());
            optimizer.step();
            optimizer.zero_grad();
            text += exact(mean);
        }
        model.eval();
        static_cast<void>(model(torch::zeros({2, 1})));
        return text + exact(mean);
    });
    EXPECT_EQ(numbers(texts[0]), (std::vector<double>{0, 0, 0, 0}));
    // One update with momentum 0.1 from the main process's 0 each time, and its 0 again in evaluation.
    EXPECT_EQ(numbers(texts[1]), (std::vector<double>{1, 1, 1, 0}));
}

// --- set up differently

TEST(TwoRanks, other_modes_are_refused) {
    const auto texts = test::run_ranks(2, [](const Group& group) -> std::string {
        try {
            const Accelerator accelerator(options_of(group, group->rank() == 0 ? Precision::Fp16 : Precision::Bf16));
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return "accepted";
    });
    for (const auto& text : texts) {
        EXPECT_EQ(text, "the processes of one run were set up differently: process 0 has mixed_precision fp16, but mixed_precision bf16 "
                        "in process 1");
    }
}

TEST(TwoRanks, other_models_are_refused) {
    const auto texts = test::run_ranks(2, [](const Group& group) -> std::string {
        Accelerator accelerator(options_of(group, Precision::No));
        try {
            auto model = accelerator.prepare(torch::nn::Linear(2, 3 + group->rank()));
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return "accepted";
    });
    for (const auto& text : texts) {
        EXPECT_EQ(text, "the processes prepared different models: process 0 has weight weight Float [3, 2], but weight weight Float [4, 2] "
                        "in process 1");
    }
}

}  // namespace
}  // namespace mantissa
