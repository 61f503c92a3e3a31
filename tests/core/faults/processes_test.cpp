// Several processes, with a group in memory: rows 29 and 31.
#include "../../support/process_threads.h"
#include "fault_testing.h"

namespace mantissa {
namespace {

using Group = std::shared_ptr<ProcessGroup>;

template <typename T>
std::vector<T> on_two_ranks(const std::function<T(const Group&)>& program) {
    std::vector<T> results(2);
    test::run_processes(2, [&](const Group& group) { results[static_cast<std::size_t>(group->rank())] = program(group); });
    return results;
}

struct Trace {
    std::vector<double> scales, weights;
    std::vector<bool> skips;
};

// Five batches for two ranks: three and two, were they not evened. Growth interval 2; one batch overflows on one rank only.
Trace trace_of(const Group& group) {
    auto options = fp16(65536);
    options.loss_scale.growth_interval = 2;
    options.processes = group;
    Accelerator accelerator(options);
    auto raw = small_model();
    const torch::Tensor weight = raw->weight;
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 1e-3});
    Loader raw_loader(torch::tensor({1.0F, 1.0F, 1e37F, 1.0F, 1.0F}), {}, {.batch_size = 1});
    auto [model, optimizer, loader] = accelerator.prepare(std::move(raw), std::move(raw_optimizer), std::move(raw_loader));
    Trace trace;
    for (int epoch = 0; epoch < 3; ++epoch) {
        for (const Batch& batch : loader) {
            accelerator.backward(model(batch.features).sum());
            optimizer.step();
            optimizer.zero_grad();
            trace.scales.push_back(accelerator.loss_scale_state()->scale);
            trace.skips.push_back(optimizer.step_was_skipped());
            trace.weights.push_back(value(weight));
        }
    }
    return trace;
}

TEST(Faults, row_29_two_ranks_keep_one_scale_and_skip_together) {
    const auto traces = on_two_ranks<Trace>(trace_of);
    EXPECT_EQ(traces[0].scales, traces[1].scales);
    EXPECT_EQ(traces[0].skips, traces[1].skips);
    EXPECT_EQ(traces[0].weights, traces[1].weights);
    ASSERT_EQ(traces[0].skips.size(), 9U);  // three each, and no rank waits for the other
    EXPECT_EQ(std::count(traces[0].skips.begin(), traces[0].skips.end(), true), 3);
    EXPECT_TRUE(traces[0].skips[1]);
}

// What the report had: each rank for itself, so that the rank with the bad batch goes its own way.
TEST(Faults, row_29_ranks_that_decide_for_themselves_drift) {
    const auto alone = [](std::vector<double> gradients) {
        auto options = fp16(65536);
        options.loss_scale.growth_interval = 2;
        Accelerator accelerator(options);
        Trained trained(accelerator, {.learning_rate = 1e-3});
        for (const double gradient : gradients) trained.step(gradient);
        return accelerator.loss_scale_state()->scale;
    };
    EXPECT_NE(alone({1, 1e37, 1}), alone({1, 1}));
}

// A non-finite loss on one rank keeps the step from the weights of all.
TEST(Faults, row_29_a_bad_loss_on_one_rank_stops_all) {
    const auto messages = on_two_ranks<std::string>([](const Group& group) {
        auto options = in_mode(Precision::Fp16);
        options.processes = group;
        Accelerator accelerator(options);
        Trained trained(accelerator, {.learning_rate = 1});
        const std::string message = message_of([&] { trained.step(group->rank() == 1 ? not_a_number : 1.0); });
        EXPECT_EQ(value(trained.weight), 1);
        return message;
    });
    EXPECT_THAT(messages[0], HasSubstr("is not finite at step 0"));
    EXPECT_THAT(messages[1], HasSubstr("the loss is"));
}

double rate_after_one_step(const Group& group, bool split_batches) {
    auto options = in_mode(Precision::No);
    options.processes = group;
    options.split_batches = split_batches;
    Accelerator accelerator(options);
    auto raw = small_model();
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 1.0});
    auto raw_scheduler = harmonic(raw_optimizer);
    auto [model, optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_optimizer), std::move(raw_scheduler));
    accelerator.backward(model(torch::ones({1})).sum());
    optimizer.step();
    scheduler.step();
    return scheduler.learning_rate();
}

TEST(Faults, row_31_one_call_moves_the_rate_by_the_number_of_ranks) {
    EXPECT_EQ(on_two_ranks<double>([](const Group& group) { return rate_after_one_step(group, false); }),
              (std::vector<double>{1.0 / 3, 1.0 / 3}));
}

TEST(Faults, row_31_with_split_batches_by_one) {
    EXPECT_EQ(on_two_ranks<double>([](const Group& group) { return rate_after_one_step(group, true); }),
              (std::vector<double>{0.5, 0.5}));
}

// The length that a rank really has, to plan a schedule by: a half of the batches, or all of them when each is split.
TEST(Faults, row_31_the_loader_tells_its_length_per_rank) {
    for (const bool split : {false, true}) {
        const auto lengths = on_two_ranks<std::int64_t>([split](const Group& group) {
            auto options = in_mode(Precision::No);
            options.processes = group;
            options.split_batches = split;
            Accelerator accelerator(options);
            return accelerator.prepare(Loader(torch::arange(12), {}, {.batch_size = 2})).length().value_or(-1);
        });
        EXPECT_EQ(lengths, (std::vector<std::int64_t>{split ? 6 : 3, split ? 6 : 3}));
    }
}

}  // namespace
}  // namespace mantissa
