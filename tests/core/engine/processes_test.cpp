// Several processes, as threads with a group in memory: gather and its kin, shares, the trigger, skips that all take together, and
// the scheduler (F26, F29, F34–F38; faults 29–31).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "../../support/process_threads.h"
#include "small_model.h"

namespace mantissa {
namespace {

using test::run_processes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Group = std::shared_ptr<ProcessGroup>;

AcceleratorOptions of(const Group& group, Precision precision = Precision::No) {
    return {.mixed_precision = precision, .device = "cpu", .processes = group};
}

std::vector<double> list(const torch::Tensor& tensor) {
    const torch::Tensor flat = tensor.to(torch::kDouble).flatten().contiguous();
    return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

torch::Tensor row(std::vector<double> values) { return torch::tensor(values); }

/// Collects from threads, in the order of ranks.
template <typename T>
std::vector<T> by_rank(std::int64_t size, const std::function<T(const Group&)>& program) {
    std::vector<T> results(static_cast<std::size_t>(size));
    run_processes(size, [&](Group group) { results[static_cast<std::size_t>(group->rank())] = program(group); });
    return results;
}

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

TEST(F35_Collectives, one_process_gets_what_upstream_gives_it) {
    Accelerator accelerator(of(nullptr));
    const auto number = torch::tensor(3.0);
    EXPECT_TRUE(accelerator.gather(number).is_same(number));
    EXPECT_TRUE(accelerator.broadcast(number).is_same(number));
    EXPECT_TRUE(accelerator.pad_across_processes(number).is_same(number));
    const auto copy = accelerator.reduce(number);
    EXPECT_FALSE(copy.is_same(number));
    EXPECT_EQ(value(copy), 3);
    EXPECT_EQ(value(accelerator.reduce(number, ReduceOperation::Mean)), 3);
}

TEST(F35_Collectives, gather_reduce_and_broadcast_on_nested_tensors) {
    run_processes(2, [](Group group) {
        Accelerator accelerator(of(group));
        const double rank = static_cast<double>(group->rank());
        EXPECT_THAT(list(accelerator.gather(torch::tensor(rank))), ElementsAre(0, 1));  // a number becomes a row
        const auto nested = std::tuple(row({rank, rank + 10}), std::map<std::string, std::vector<torch::Tensor>>{{"a", {row({-rank})}}});
        const auto [first, second] = accelerator.gather(nested);
        EXPECT_THAT(list(first), ElementsAre(0, 10, 1, 11));
        EXPECT_THAT(list(second.at("a").at(0)), ElementsAre(0, -1));
        EXPECT_THAT(list(accelerator.reduce(row({rank, 4}))), ElementsAre(1, 8));
        EXPECT_THAT(list(accelerator.reduce(row({rank, 4}), ReduceOperation::Mean)), ElementsAre(0.5, 4));
        EXPECT_THAT(list(accelerator.reduce(row({rank, -rank}), ReduceOperation::Max)), ElementsAre(1, 0));
        EXPECT_THAT(list(accelerator.reduce(row({rank}), ReduceOperation::None)), ElementsAre(rank));
        EXPECT_THAT(list(accelerator.reduce(row({rank}), ReduceOperation::Sum, 0.5)), ElementsAre(0.5));
        EXPECT_THAT(list(accelerator.broadcast(row({rank, 7 + rank}), 1)), ElementsAre(1, 8));
        EXPECT_THAT(message_of([&] { return accelerator.broadcast(row({1}), 2); }), HasSubstr("process 2 of 2"));
        EXPECT_THAT(message_of([&] { return accelerator.reduce(torch::ones({1}, at::kLong), ReduceOperation::Mean); }), HasSubstr("Long"));
    });
}

TEST(F35_Collectives, pad_across_processes_fills_to_the_largest) {
    run_processes(2, [](Group group) {
        Accelerator accelerator(of(group));
        const std::int64_t rows = 1 + group->rank();
        const auto tensor = torch::ones({rows, 2});
        const auto padded = accelerator.pad_across_processes(tensor, 0, -7);
        EXPECT_THAT(list(padded), group->rank() == 0 ? ElementsAre(1, 1, -7, -7) : ElementsAre(1, 1, 1, 1));
        const auto first = accelerator.pad_across_processes(tensor, -2, -7, true);
        EXPECT_THAT(list(first), group->rank() == 0 ? ElementsAre(-7, -7, 1, 1) : ElementsAre(1, 1, 1, 1));
        EXPECT_TRUE(accelerator.pad_across_processes(tensor, 2).is_same(tensor));  // it has no such dimension
        EXPECT_EQ(accelerator.gather(padded).size(0), 4);
    });
}

TEST(F55_DebugMode, tensors_of_different_shape_are_named_before_they_meet) {
    run_processes(2, [](Group group) {
        Accelerator accelerator(of(group));
        accelerator.set_debug_mode(true);
        EXPECT_THAT(message_of([&] { return accelerator.gather(torch::ones({1 + group->rank(), 3})); }),
                    HasSubstr("gather got tensors of different shape or dtype: process 0 Float [1, 3], process 1 Float [2, 3]"));
        EXPECT_THAT(list(accelerator.gather(row({1}))), ElementsAre(1, 1));
    });
}

std::vector<double> seen_for_metrics(const Group& group, const AcceleratorOptions& options, const LoaderOptions& data) {
    Accelerator accelerator(options);
    auto loader = accelerator.prepare(Loader(torch::arange(11), torch::arange(11), data));
    std::vector<double> seen;
    std::vector<std::int64_t> objects;
    for (const Batch& batch : loader) {
        for (const double one : list(accelerator.gather_for_metrics(batch).labels)) seen.push_back(one);
        std::vector<std::int64_t> here;
        for (const double one : list(batch.features)) here.push_back(static_cast<std::int64_t>(one));
        for (const auto one : accelerator.gather_for_metrics(here)) objects.push_back(one);
    }
    EXPECT_EQ(std::vector<double>(objects.begin(), objects.end()), seen) << "rank " << (group ? group->rank() : 0);
    return seen;
}

TEST(F36_GatherForMetrics, eleven_items_of_two_processes_come_exactly_once) {
    const std::vector<double> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    EXPECT_EQ(seen_for_metrics(nullptr, of(nullptr), {.batch_size = 4}), all);
    for (const bool split : {false, true}) {
        const auto seen = by_rank<std::vector<double>>(2, [&](const Group& group) {
            auto options = of(group);
            options.split_batches = split;
            return seen_for_metrics(group, options, {.batch_size = 4});
        });
        EXPECT_EQ(seen[0], all) << split;
        EXPECT_EQ(seen[1], all) << split;
    }
}

TEST(F36_GatherForMetrics, means_per_process_are_not_told_apart_and_drop_last_keeps_all) {
    const auto means = by_rank<std::vector<double>>(2, [](const Group& group) {
        Accelerator accelerator(of(group));
        auto loader = accelerator.prepare(Loader(torch::arange(11), {}, {.batch_size = 4}));
        std::vector<double> last;
        for (const Batch& batch : loader) last = list(accelerator.gather_for_metrics(batch.features.to(torch::kDouble).mean()));
        return last;
    });
    EXPECT_THAT(means[0], ElementsAre(6.75, 2.5));  // of 8, 9, 10, 0 and 1, 2, 3, 4; the mean of 8, 9, 10 is 9
    const auto dropped = by_rank<std::vector<double>>(2, [](const Group& group) {
        return seen_for_metrics(group, of(group), {.batch_size = 4, .drop_last = true});
    });
    EXPECT_THAT(dropped[0], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(F36_GatherForMetrics, texts_of_any_length_are_gathered_too) {
    run_processes(2, [](Group group) {
        Accelerator accelerator(of(group));
        const std::vector<std::string> mine = group->rank() == 0 ? std::vector<std::string>{"a", ""} : std::vector<std::string>{"long one"};
        EXPECT_THAT(accelerator.gather_for_metrics(mine), ElementsAre("a", "", "long one"));
        EXPECT_THAT(accelerator.gather_for_metrics(std::vector<double>{0.5}), ElementsAre(0.5, 0.5));
    });
}

TEST(F37_Trigger, set_by_any_process_is_seen_by_all_once) {
    run_processes(3, [](Group group) {
        Accelerator accelerator(of(group));
        EXPECT_FALSE(accelerator.check_trigger());
        if (group->rank() == 1) accelerator.set_trigger();
        EXPECT_TRUE(accelerator.check_trigger());
        EXPECT_FALSE(accelerator.check_trigger());
    });
    Accelerator alone(of(nullptr));
    alone.set_trigger();
    EXPECT_TRUE(alone.check_trigger());
    EXPECT_FALSE(alone.check_trigger());
}

TEST(F38_Processes, know_who_they_are_and_the_main_one_goes_first) {
    std::atomic<int> written = 0;
    std::atomic<bool> was_late = false;
    run_processes(3, [&](Group group) {
        Accelerator accelerator(of(group));
        EXPECT_EQ(accelerator.num_processes(), 3);
        EXPECT_EQ(accelerator.process_index(), group->rank());
        EXPECT_EQ(accelerator.local_process_index(), group->rank());
        EXPECT_EQ(accelerator.is_main_process(), group->rank() == 0);
        EXPECT_EQ(accelerator.is_local_main_process(), group->rank() == 0);
        EXPECT_EQ(accelerator.is_last_process(), group->rank() == 2);
        int ran = 0;
        accelerator.on_main_process([&] { ran += 1; });
        accelerator.on_local_main_process([&] { ran += 10; });
        accelerator.on_last_process([&] { ran += 100; });
        accelerator.on_process(1, [&] { ran += 1000; });
        EXPECT_EQ(ran, group->rank() == 0 ? 11 : group->rank() == 1 ? 1000 : 100);
        {
            const auto first = accelerator.main_process_first();
            if (accelerator.is_main_process()) {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                written = 1;
            } else if (written == 0) {
                was_late = true;
            }
        }
        accelerator.wait_for_everyone();
    });
    EXPECT_FALSE(was_late);
    ::testing::internal::CaptureStdout();
    run_processes(3, [](Group group) { Accelerator(of(group)).print("once"); });
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "once\n");
}

TEST(F38_Processes, split_between_processes_gives_equal_parts_and_pads_with_the_last) {
    using Names = std::vector<std::string>;
    const Names names{"A", "B", "C"};
    const auto parts = by_rank<Names>(2, [&](const Group& group) { return Accelerator(of(group)).split_between_processes(names); });
    EXPECT_THAT(parts[0], ElementsAre("A", "B"));
    EXPECT_THAT(parts[1], ElementsAre("C"));
    const auto padded = by_rank<Names>(2, [&](const Group& group) { return Accelerator(of(group)).split_between_processes(names, true); });
    EXPECT_THAT(padded[1], ElementsAre("C", "C"));
    run_processes(4, [&](Group group) {
        Accelerator accelerator(of(group));
        const auto numbers = torch::arange(6).reshape({6, 1});
        const std::vector<std::vector<double>> expected{{0, 1}, {2, 3}, {4, 5}, {5, 5}};
        const auto rank = static_cast<std::size_t>(group->rank());
        EXPECT_EQ(list(accelerator.split_between_processes(numbers, true)), expected[rank]);
        const std::map<std::string, std::vector<int>> map{{"x", {1, 2, 3, 4, 5}}, {"y", {6, 7, 8, 9, 10}}};
        const auto share = accelerator.split_between_processes(map);
        EXPECT_EQ(share.at("y"), (std::vector<std::vector<int>>{{6, 7}, {8}, {9}, {10}}[rank]));
        const std::map<std::string, std::vector<int>> uneven{{"x", {1}}, {"y", {1, 2}}};
        EXPECT_THAT(message_of([&] { return accelerator.split_between_processes(uneven); }), HasSubstr("1 and 2 elements"));
    });
    EXPECT_EQ(Accelerator(of(nullptr)).split_between_processes(names, true), names);
}

TEST(F34_SetSeed, seeds_torch_adds_the_rank_when_asked_and_switches_determinism) {
    set_seed(42);
    EXPECT_FLOAT_EQ(torch::rand({1}).item<float>(), 0.88226926F);  // torch.manual_seed(42); torch.rand(1)
    const auto at_rank_one = [](bool device_specific) {
        set_seed(41, {.device_specific = device_specific}, 1);
        return at::globalContext().defaultGenerator(at::kCPU).current_seed();
    };
    EXPECT_EQ(at_rank_one(true), 42u);
    EXPECT_EQ(at_rank_one(false), 41u);
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
    Accelerator(of(nullptr)).set_seed(7, {.deterministic = true});
    EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
    EXPECT_EQ(at::globalContext().defaultGenerator(at::kCPU).current_seed(), 7u);
}

TEST(F29_Sharding, shuffled_shares_of_the_processes_fit_together) {
    for (const bool seedable : {false, true}) {
        const auto seen = by_rank<std::vector<double>>(2, [&](const Group& group) {
            Accelerator accelerator(of(group));
            if (group->rank() == 1) static_cast<void>(torch::rand({3}));  // its generator stands elsewhere: rank 0's holds
            auto loader = accelerator.prepare(
                Loader(torch::arange(12), {}, {.batch_size = 2, .shuffle = true, .use_seedable_sampler = seedable}));
            EXPECT_EQ(loader.length(), 3);  // fault 31: six batches, two processes
            std::vector<double> all;
            for (int epoch = 0; epoch < 2; ++epoch) {
                for (const Batch& batch : loader) {
                    for (const double one : list(batch.features)) all.push_back(one);
                }
            }
            return all;
        });
        for (std::size_t epoch = 0; epoch < 2; ++epoch) {
            std::vector<double> both;
            for (const auto& one : seen) both.insert(both.end(), one.begin() + 6 * epoch, one.begin() + 6 * (epoch + 1));
            EXPECT_THAT(both, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)) << seedable << " " << epoch;
        }
    }
}

double rate_after_one_step(const Group& group, bool split_batches, bool with_optimizer = true) {
    auto options = of(group);
    options.split_batches = split_batches;
    options.step_scheduler_with_optimizer = with_optimizer;
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

TEST(F26_Scheduler, one_call_moves_by_the_processes_and_by_one_when_batches_are_split) {
    const auto rates = [](bool split, bool bound) {
        return by_rank<double>(2, [&](const Group& group) { return rate_after_one_step(group, split, bound); });
    };
    EXPECT_THAT(rates(false, true), ElementsAre(1.0 / 3, 1.0 / 3));  // fault 31
    EXPECT_THAT(rates(true, true), ElementsAre(0.5, 0.5));
    EXPECT_THAT(rates(false, false), ElementsAre(0.5, 0.5));  // its own stepping: one call, one step
    EXPECT_EQ(rate_after_one_step(nullptr, false), 0.5);
}

TEST(F26_Scheduler, between_syncs_it_waits_and_one_cycle_stops_at_its_total) {
    auto options = of(nullptr);
    options.gradient_accumulation_steps = 2;
    Accelerator accelerator(options);
    auto raw = small_model();
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 1.0});
    auto raw_scheduler = harmonic(raw_optimizer);
    auto [model, optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_optimizer), std::move(raw_scheduler));
    std::vector<double> rates;
    for (int i = 0; i < 4; ++i) {  // fault 30
        accelerator.accumulate();
        accelerator.backward(model(torch::ones({1})).sum());
        optimizer.step();
        scheduler.step();
        rates.push_back(scheduler.learning_rate());
    }
    EXPECT_THAT(rates, ElementsAre(1, 0.5, 0.5, 1.0 / 3));
    run_processes(2, [](Group group) {
        Accelerator two(of(group));
        auto weights = small_model();
        auto sgd_optimizer = sgd(weights->parameters(), {.learning_rate = 0.1});
        auto cycle = one_cycle_lr(sgd_optimizer, {.max_lr = 0.1, .total_steps = 5, .cycle_momentum = false});
        auto [net, step, prepared] = two.prepare(std::move(weights), std::move(sgd_optimizer), std::move(cycle));
        for (int i = 0; i < 4; ++i) {  // eight steps are asked of a cycle of five
            two.backward(net(torch::ones({1})).sum());
            step.step();
            EXPECT_NO_THROW(prepared.step());
        }
    });
}

struct ScaleTrace {
    std::vector<double> scales;
    std::vector<bool> skips;
    bool operator==(const ScaleTrace&) const = default;
};

TEST(F29_Fault29, processes_keep_one_scale_and_skip_together_though_the_data_are_uneven) {
    const auto traces = by_rank<ScaleTrace>(2, [](const Group& group) {
        auto options = of(group, Precision::Fp16);
        options.loss_scale.growth_interval = 2;
        Accelerator accelerator(options);
        auto raw = small_model();
        auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 1e-3});
        // Five batches: three and two, were they not evened. The third, process 0's second, overflows under the scale.
        Loader raw_loader(torch::tensor({1.0, 1.0, 1e37, 1.0, 1.0}, torch::kFloat), {}, {.batch_size = 1});
        auto [model, optimizer, loader] = accelerator.prepare(std::move(raw), std::move(raw_optimizer), std::move(raw_loader));
        ScaleTrace trace;
        for (int epoch = 0; epoch < 2; ++epoch) {
            for (const Batch& batch : loader) {
                accelerator.backward(model(batch.features).sum());
                optimizer.step();
                optimizer.zero_grad();
                trace.scales.push_back(accelerator.loss_scale_state()->scale);
                trace.skips.push_back(optimizer.step_was_skipped());
            }
        }
        return trace;
    });
    EXPECT_EQ(traces[0], traces[1]);
    EXPECT_THAT(traces[0].skips, ElementsAre(false, true, false, false, true, false));
    EXPECT_THAT(traces[0].scales, ElementsAre(65536, 32768, 32768, 65536, 32768, 32768));
}

TEST(F29_Fault29, a_bad_loss_on_one_process_stops_all_before_a_weight_moves) {
    const auto messages = by_rank<std::string>(2, [](const Group& group) {
        Accelerator accelerator(of(group));
        auto raw = small_model();
        auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 1.0});
        auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
        accelerator.backward(model(torch::full({1}, group->rank() == 1 ? not_a_number : 1.0)).sum());
        const std::string message = message_of([&] { optimizer.step(); });
        EXPECT_EQ(value(model.parameters().at(0)), 1);
        return message;
    });
    EXPECT_THAT(messages[0], HasSubstr("the loss of another process is not finite at step 0"));
    EXPECT_THAT(messages[1], HasSubstr("the loss is"));
}

}  // namespace
}  // namespace mantissa
