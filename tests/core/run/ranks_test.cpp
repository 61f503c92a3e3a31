// What the processes of one run decide together, with a group in memory, and the batches that each gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

#include "../../support/process_threads.h"
#include "data/batch_source.h"
#include "engine/engine_error.h"
#include "run/ranks.h"
#include "run/step_runner.h"

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
        std::vector<std::int64_t> samples = group->rank() == 0 ? std::vector<std::int64_t>{6, 4} : std::vector<std::int64_t>{2, 0};
        if (group->rank() == 1) facts.losses[1] = std::numeric_limits<double>::quiet_NaN();  // of no sample: doesn't count
        Ranks(group).share(facts, samples);
        EXPECT_THAT(samples, ElementsAre(8, 4));
        EXPECT_THAT(facts.losses, ElementsAre((1.0 * 6 + 5.0 * 2) / 8, 3.0));
        EXPECT_DOUBLE_EQ(facts.loss, (2.0 + 3.0) / 2);  // of micro-batches, each counts the same, as in one process
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

using Labels = std::vector<std::int64_t>;

/// Batches of 11 samples in their order, of each rank.
std::vector<std::vector<Labels>> of_ranks(std::int64_t processes, std::int64_t batch_size, const Division& division, bool drop_last = false) {
    std::vector<std::vector<Labels>> all(static_cast<std::size_t>(processes));
    const SampleOrder order(torch::arange(11), 4);
    const torch::Tensor visited = order.epoch(0), places = torch::empty({11}, at::kLong).scatter(0, visited, torch::arange(11));
    test::run_processes(processes, [&](const Group& group) {
        OrderedBatches source(counted(11), order, batch_size, drop_last);
        source.divide({group, division.split_batches, division.even_batches});
        auto& own = all[static_cast<std::size_t>(group->rank())];
        own = labels_of_pass(source);
        for (Labels& batch : own) {
            for (std::int64_t& label : batch) label = places[label].item<std::int64_t>();
        }
        EXPECT_EQ(source.batches_per_epoch(), static_cast<std::int64_t>(own.size()));
        EXPECT_EQ(source.drops_last(), drop_last);
    });
    return all;
}

// Accelerate's own tables for 11 samples, batch 4, two processes; only that a process without samples gets a batch of none.
TEST(OrderedBatchesOfRanks, uneven_split_and_dropped_batches_are_accelerates) {
    const Division even{{}, false, true}, uneven{{}, false, false}, split{{}, true, true}, split_uneven{{}, true, false};
    EXPECT_THAT(of_ranks(2, 4, even), ElementsAre(ElementsAre(Labels{0, 1, 2, 3}, Labels{8, 9, 10, 0}),
                                                  ElementsAre(Labels{4, 5, 6, 7}, Labels{1, 2, 3, 4})));
    EXPECT_THAT(of_ranks(2, 4, uneven), ElementsAre(ElementsAre(Labels{0, 1, 2, 3}, Labels{8, 9, 10}),
                                                    ElementsAre(Labels{4, 5, 6, 7}, Labels{})));
    EXPECT_THAT(of_ranks(2, 4, split), ElementsAre(ElementsAre(Labels{0, 1}, Labels{4, 5}, Labels{8, 9}),
                                                   ElementsAre(Labels{2, 3}, Labels{6, 7}, Labels{10, 0})));
    EXPECT_THAT(of_ranks(2, 4, split_uneven), ElementsAre(ElementsAre(Labels{0, 1}, Labels{4, 5}, Labels{8, 9}),
                                                          ElementsAre(Labels{2, 3}, Labels{6, 7}, Labels{10})));
    for (const Division& division : {even, uneven}) {
        EXPECT_THAT(of_ranks(2, 4, division, true), ElementsAre(ElementsAre(Labels{0, 1, 2, 3}), ElementsAre(Labels{4, 5, 6, 7})));
    }
    EXPECT_THAT(of_ranks(2, 4, split, true), ElementsAre(ElementsAre(Labels{0, 1}, Labels{4, 5}), ElementsAre(Labels{2, 3}, Labels{6, 7})));
    EXPECT_THAT(of_ranks(1, 4, even, true), ElementsAre(ElementsAre(Labels{0, 1, 2, 3}, Labels{4, 5, 6, 7})));
    EXPECT_THROW(of_ranks(3, 4, split), EngineError);
}

TEST(OrderedBatchesOfRanks, one_process_keeps_its_short_batch) {
    OrderedBatches source(counted(10), SampleOrder(torch::arange(10), 4), 4);
    source.divide({});
    EXPECT_EQ(labels_of_pass(source).back().size(), 2U);
    EXPECT_EQ(source.total_batch_size(), 4);
}

// --- two ranks are one process with the doubled batch, also where the last batches are uneven

struct Course {
    std::vector<double> losses;
    std::vector<std::int64_t> samples;
    torch::Tensor weights;
};

Course trained(const RunPlan& plan, const Group& group) {
    const auto choice = choose_run_device(plan);
    const auto ranks = group ? std::make_shared<Ranks>(group) : nullptr;
    const auto parts = build_run(plan, *choice, ranks);
    if (!parts) throw EngineError(parts.error());
    StepRunner runner(**parts, plan.training, nullptr);
    Course course;
    for (std::int64_t step = 0; step < (*parts)->planned_steps; ++step) {
        StepOutcome outcome = runner.run();
        auto& samples = outcome.samples_of_micro_batches;
        if (ranks) ranks->share(outcome.facts, samples);
        course.losses.push_back(outcome.facts.loss);
        course.samples.push_back(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}));
    }
    std::vector<torch::Tensor> flat;
    for (const torch::Tensor& weight : (*parts)->model.parameters()) flat.push_back(weight.detach().flatten());
    course.weights = torch::cat(flat);
    return course;
}

RunPlan small_plan() {
    RunPlan plan;
    plan.model.hidden = 8;
    plan.dataset.validation = 0.9;  // 179 samples train
    plan.training.epochs = 2;
    plan.training.optimizer.name = "sgd";
    plan.training.optimizer.learning_rate = 0.5;
    return plan;
}

struct UnevenCase {
    const char* name;
    std::int64_t processes, batch_size, accumulation;  // batch size of all together
    bool split, drop_last;
    std::int64_t last_batch;  // of all together
};

class UnevenRanks : public testing::TestWithParam<UnevenCase> {};
INSTANTIATE_TEST_SUITE_P(Cases, UnevenRanks,
                         testing::Values(UnevenCase{"one_has_nothing", 2, 34, 1, false, false, 9},
                                         UnevenCase{"one_has_less", 2, 26, 1, false, false, 23},
                                         UnevenCase{"three_and_accumulation", 3, 39, 3, false, false, 23},
                                         UnevenCase{"split", 2, 26, 1, true, false, 23},
                                         UnevenCase{"split_and_one_has_nothing", 4, 44, 2, true, false, 3},
                                         UnevenCase{"dropped", 2, 34, 2, false, true, 34}),
                         [](const auto& one) { return one.param.name; });

TEST_P(UnevenRanks, give_the_numbers_of_one_process) {
    const UnevenCase& division = GetParam();
    RunPlan plan = small_plan();
    plan.training.batch_size = division.batch_size;
    plan.training.gradient_accumulation_steps = division.accumulation;
    plan.training.drop_last = division.drop_last;
    const Course one = trained(plan, nullptr);
    plan.training.even_batches = false;
    plan.training.split_batches = division.split;
    if (!division.split) plan.training.batch_size /= division.processes;
    plan.launch.scope = LaunchScope::Ranks;
    plan.launch.processes = division.processes;
    std::vector<Course> all(static_cast<std::size_t>(division.processes));
    test::run_processes(division.processes, [&](const Group& group) { all[static_cast<std::size_t>(group->rank())] = trained(plan, group); });
    ASSERT_EQ(all[0].losses.size(), one.losses.size());
    EXPECT_EQ(all[0].samples, one.samples);
    EXPECT_EQ(one.samples.back() % division.batch_size, division.last_batch % division.batch_size);
    for (std::size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(all[0].losses[i], one.losses[i], 2e-6) << "step " << i;
    EXPECT_LT((all[0].weights - one.weights).abs().max().item<float>(), 5e-6F);
    for (const Course& other : all) EXPECT_TRUE(torch::equal(other.weights, all[0].weights));
}

TEST(Ranks, processes_with_other_data_are_refused) {
    RunPlan plan = small_plan();
    plan.launch.scope = LaunchScope::Ranks;
    plan.launch.processes = 2;
    test::run_processes(2, [&](const Group& group) {
        RunPlan own = plan;
        if (group->rank() == 1) own.dataset.split_seed = 5;
        try {
            trained(own, group);
            ADD_FAILURE() << "nothing was refused";
        } catch (const EngineError& error) {
            EXPECT_THAT(error.error().message, HasSubstr("the processes of one run have different data: process 0 has sample order "));
        }
    });
}

}  // namespace
}  // namespace mantissa
