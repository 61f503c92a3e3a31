// What the processes of one run decide together, with a group in memory, and the batches that each gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "../../support/process_threads.h"
#include "data/batch_source.h"
#include "run/ranks.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Group = std::shared_ptr<ProcessGroup>;

TEST(Ranks, the_first_error_is_everyones_with_its_process) {
    test::run_processes(3, [](const Group& group) {
        const Ranks ranks(group);
        EXPECT_TRUE(ranks.agree({}).ok());
        const Result<void> own = group->rank() == 0 ? Result<void>()
                                                    : Error{ErrorCode::UnsupportedPrecision, "bf16 is emulated here", "use --allow-emulated"};
        const auto agreed = ranks.agree(own);
        ASSERT_FALSE(agreed.ok());
        EXPECT_EQ(agreed.error().code, ErrorCode::UnsupportedPrecision);
        EXPECT_EQ(agreed.error().message, "process 1: bf16 is emulated here");
        EXPECT_EQ(agreed.error().hint, "use --allow-emulated");
    });
}

TEST(Ranks, losses_are_weighed_by_samples) {
    test::run_processes(2, [](const Group& group) {
        StepFacts facts;
        facts.losses = group->rank() == 0 ? std::vector<double>{1, 3} : std::vector<double>{5, 7};
        facts.loss = group->rank() == 0 ? 2 : 6;
        std::int64_t samples = group->rank() == 0 ? 6 : 2;
        Ranks(group).share(facts, samples);
        EXPECT_EQ(samples, 8);
        EXPECT_DOUBLE_EQ(facts.loss, (2.0 * 6 + 6.0 * 2) / 8);
        EXPECT_THAT(facts.losses, ElementsAre((1.0 * 6 + 5.0 * 2) / 8, (3.0 * 6 + 7.0 * 2) / 8));
    });
}

struct Seen {
    int pauses = 0, ends_of_pauses = 0, checkpoints = 0;
    RunControl::Next next = RunControl::Next::Go;
};
Seen edge(const Ranks& ranks, RunControl& control) {
    Seen seen;
    seen.next = ranks.at_step_edge(control, [&](bool paused) { ++(paused ? seen.pauses : seen.ends_of_pauses); },
                                   [&] { ++seen.checkpoints; });
    return seen;
}

TEST(Ranks, a_stop_or_a_checkpoint_that_reaches_one_is_everyones) {
    std::array<RunControl, 2> controls;
    controls[1].post(ControlCommand::Checkpoint);
    test::run_processes(2, [&](const Group& group) {
        RunControl& control = controls[static_cast<std::size_t>(group->rank())];
        const Ranks ranks(group);
        const Seen first = edge(ranks, control);
        EXPECT_EQ(first.checkpoints, 1);
        EXPECT_EQ(first.next, RunControl::Next::Go);
        EXPECT_EQ(edge(ranks, control).checkpoints, 0);
        if (group->rank() == 1) control.post(ControlCommand::Stop);
        EXPECT_EQ(edge(ranks, control).next, RunControl::Next::Stop);
        if (group->rank() == 0) control.post(ControlCommand::Interrupt);
        EXPECT_EQ(edge(ranks, control).next, RunControl::Next::Interrupt);
    });
}

TEST(Ranks, the_main_processs_pause_holds_all_and_steps_are_counted_together) {
    std::array<RunControl, 2> controls;
    controls[0].post(ControlCommand::Step);  // one step, then wait
    controls[1].post(ControlCommand::Pause);  // nobody could end a pause of this one
    std::array<std::atomic<int>, 2> steps{};
    std::jthread person([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        EXPECT_EQ(steps[0], 1);
        EXPECT_EQ(steps[1], 1);
        controls[0].post(ControlCommand::Step);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        EXPECT_EQ(steps[0], 2);
        EXPECT_EQ(steps[1], 2);
        controls[0].post(ControlCommand::Resume);
    });
    test::run_processes(2, [&](const Group& group) {
        const auto rank = static_cast<std::size_t>(group->rank());
        const Ranks ranks(group);
        int pauses = 0, ends = 0;
        for (int i = 0; i < 6; ++i) {
            const Seen seen = edge(ranks, controls[rank]);
            pauses += seen.pauses;
            ends += seen.ends_of_pauses;
            EXPECT_EQ(seen.next, RunControl::Next::Go);
            ++steps[rank];
        }
        EXPECT_EQ(pauses, 2);
        EXPECT_EQ(ends, 2);
    });
    EXPECT_EQ(steps[1], 6);
}

TEST(Ranks, a_stop_ends_a_pause_of_all) {
    std::array<RunControl, 2> controls;
    controls[0].post(ControlCommand::Pause);
    std::jthread person([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        controls[0].post(ControlCommand::Checkpoint);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        controls[0].post(ControlCommand::Stop);
    });
    test::run_processes(2, [&](const Group& group) {
        const Seen seen = edge(Ranks(group), controls[static_cast<std::size_t>(group->rank())]);
        EXPECT_EQ(seen.next, RunControl::Next::Stop);
        EXPECT_EQ(seen.checkpoints, 1);  // served while it waits
        EXPECT_EQ(seen.pauses, 1);
        EXPECT_EQ(seen.ends_of_pauses, 1);
    });
}

// --- batches

std::vector<std::vector<std::int64_t>> labels_of_pass(BatchSource& source, std::int64_t skipped = 0) {
    source.begin(0);
    source.skip(skipped);
    std::vector<std::vector<std::int64_t>> batches;
    while (const auto batch = source.next()) {
        const torch::Tensor labels = batch->labels.contiguous();
        batches.emplace_back(labels.const_data_ptr<std::int64_t>(), labels.const_data_ptr<std::int64_t>() + labels.numel());
    }
    return batches;
}

Dataset counted(std::int64_t samples) {
    Dataset data;
    data.features = torch::zeros({samples, 1});
    data.labels = torch::arange(samples);
    return data;
}

TEST(OrderedBatchesOfRanks, each_round_is_the_orders_next_batches_one_for_each) {
    const Dataset data = counted(10);
    const SampleOrder order(torch::arange(10), 4);
    const torch::Tensor visited = order.epoch(0);
    const auto at = [&](std::int64_t i) { return visited[i % 10].item<std::int64_t>(); };
    test::run_processes(2, [&](const Group& group) {
        OrderedBatches source(data, order, 4);
        source.divide({group, false, true});
        EXPECT_EQ(source.batches_per_epoch(), 2);
        EXPECT_EQ(source.total_batch_size(), 8);
        // Samples 0–3 and 4–7; then 8, 9 and six from the start.
        const std::int64_t first = 4 * group->rank(), second = 8 + 4 * group->rank();
        const auto batches = labels_of_pass(source);
        EXPECT_THAT(batches, ElementsAre(ElementsAre(at(first), at(first + 1), at(first + 2), at(first + 3)),
                                         ElementsAre(at(second), at(second + 1), at(second + 2), at(second + 3))));
        EXPECT_EQ(labels_of_pass(source, 1), (std::vector<std::vector<std::int64_t>>{batches[1]}));
        EXPECT_TRUE(labels_of_pass(source, 2).empty());
        EXPECT_TRUE(labels_of_pass(source, 5).empty());
    });
}

TEST(OrderedBatchesOfRanks, fewer_samples_than_one_round_still_fill_it) {
    const Dataset data = counted(3);
    test::run_processes(4, [&](const Group& group) {
        OrderedBatches source(data, SampleOrder(torch::arange(3), 4), 2);
        source.divide({group, false, true});
        const auto batches = labels_of_pass(source);
        ASSERT_EQ(batches.size(), 1U);
        EXPECT_EQ(batches[0].size(), 2U);
    });
}

TEST(OrderedBatchesOfRanks, one_process_keeps_its_short_batch) {
    OrderedBatches source(counted(10), SampleOrder(torch::arange(10), 4), 4);
    source.divide({});
    EXPECT_EQ(labels_of_pass(source).back().size(), 2U);
    EXPECT_EQ(source.total_batch_size(), 4);
}

}  // namespace
}  // namespace mantissa
