// A data set's way to batches: what a loader knows of itself, what it refuses, and every kind of shuffling resumed (F28, F31, F33).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/prepared_loader.h"
#include "engine/seeds.h"
#include "loader_testing.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;

torch::Tensor default_state() {
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
    return generator.get_state();
}

void set_default_state(const torch::Tensor& state) {
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
    generator.set_state(state);
}

LoaderCore whole(std::unique_ptr<BatchSource> source) {
    return {std::make_shared<ActiveLoaders>(), LoaderCore::Placement{}, std::move(source), Division{}};
}

Indices take(LoaderCore& loader, int count) {
    Indices seen;
    for (int i = 0; i < count; ++i) {
        auto batch = loader.next();
        if (!batch) {
            loader.start_pass();
            batch = loader.next();
        }
        seen.push_back(batch->features[0].item<std::int64_t>());
    }
    return seen;
}

TEST(F31_SeedableSampler, every_kind_of_shuffling_goes_on_from_a_saved_state_with_the_next_batch) {
    const auto with_generator = [] {
        at::Generator generator = at::detail::createCPUGenerator();
        generator.set_current_seed(5);
        return generator;
    };
    const std::vector<LoaderOptions> kinds{
        {.batch_size = 2, .shuffle = true},
        {.batch_size = 2, .shuffle = true, .use_seedable_sampler = true, .data_seed = 7},
        {.batch_size = 2, .shuffle = true, .generator = with_generator()},
        {.batch_size = 2}};
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (int taken = 1; taken <= 9; ++taken) {  // five batches a pass
            set_seed(1);
            auto options = kinds[kind];
            if (options.generator) options.generator = with_generator();
            LoaderCore loader = whole(rows(10, options));
            loader.start_pass();
            static_cast<void>(take(loader, taken));
            const StateBundle state = loader.state();
            const torch::Tensor random = default_state();
            const Indices expected = take(loader, 8);
            if (options.generator) options.generator = with_generator();
            LoaderCore resumed = whole(rows(10, options));
            resumed.load_state(state);
            set_default_state(random);
            resumed.start_pass();
            EXPECT_EQ(take(resumed, 8), expected) << "kind " << kind << ", after " << taken << " batches";
        }
    }
}

/// Adds noise from the default generator, as augmentation does.
class NoisyRows : public MapDataset {
  public:
    std::int64_t size() const override { return 6; }
    Batch get(const Indices& rows) override { return {torch::rand({static_cast<std::int64_t>(rows.size())}), {}}; }
    bool draws_random_numbers() const override { return true; }
};

TEST(F31_SeedableSampler, a_data_set_that_draws_repeats_the_batch_that_was_looked_ahead) {
    for (int taken = 1; taken <= 5; ++taken) {
        set_seed(3);
        LoaderCore loader = whole(Loader(std::make_shared<NoisyRows>(), {.batch_size = 1}).take());
        loader.start_pass();
        const auto numbers = [](LoaderCore& from, int count) {
            std::vector<float> seen;
            for (int i = 0; i < count; ++i) {
                seen.push_back(from.next()->features.item<float>());
                seen.push_back(torch::rand({1}).item<float>());  // dropout of the step
            }
            return seen;
        };
        static_cast<void>(numbers(loader, taken));
        const StateBundle state = loader.state();
        const torch::Tensor random = default_state();
        const auto expected = numbers(loader, 6 - taken);
        LoaderCore resumed = whole(Loader(std::make_shared<NoisyRows>(), {.batch_size = 1}).take());
        resumed.load_state(state);
        set_default_state(random);
        resumed.start_pass();
        EXPECT_EQ(numbers(resumed, 6 - taken), expected) << taken;
    }
}

TEST(F28_Loader, knows_length_remainder_and_end_and_puts_batches_on_the_device) {
    const auto remainder = [](std::int64_t count, bool drop, const Division& among) {
        LoaderCore loader(std::make_shared<ActiveLoaders>(), {}, rows(count, {.batch_size = 4, .drop_last = drop}), among);
        loader.start_pass();
        return loader.remainder();
    };
    EXPECT_EQ(remainder(11, false, {}), 3);
    EXPECT_EQ(remainder(11, false, division(0, 2)), 3);
    EXPECT_EQ(remainder(16, false, division(0, 2)), 0);
    EXPECT_EQ(remainder(14, false, division(0, 2, true)), 2);
    EXPECT_EQ(remainder(11, true, {}), -1);
    LoaderCore moved(std::make_shared<ActiveLoaders>(), {.device = torch::kMeta}, rows(3, {.batch_size = 2, .non_blocking = true}), {});
    EXPECT_TRUE(moved.source().is_non_blocking());  // F33
    moved.start_pass();
    EXPECT_TRUE(moved.next()->features.is_meta());
    EXPECT_FALSE(moved.end_of_dataloader());
    EXPECT_TRUE(moved.next()->features.is_meta());
    EXPECT_TRUE(moved.end_of_dataloader());
    LoaderCore stays(std::make_shared<ActiveLoaders>(), {.device = torch::kMeta, .moves = false}, rows(3, {}), {});
    stays.start_pass();
    EXPECT_TRUE(stays.next()->features.is_cpu());
}

TEST(F28_Loader, options_that_exclude_each_other_and_rows_that_do_not_fit_are_named) {
    const auto message = [](auto make) {
        try {
            make();
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return std::string("accepted");
    };
    const auto sampler = std::make_shared<VaryingBatches>(std::vector<std::int64_t>{1});
    EXPECT_THAT(message([] { rows(3, {.batch_size = 0}); }), HasSubstr("batch_size is 0"));
    EXPECT_THAT(message([&] { rows(3, {.shuffle = true, .batch_sampler = sampler}); }), HasSubstr("batch_sampler"));
    EXPECT_THAT(message([] { rows(3, {.shuffle = true, .sampler = std::make_shared<SequentialSampler>(3)}); }), HasSubstr("shuffle"));
    EXPECT_THAT(message([] { Loader(torch::zeros({3, 1}), torch::zeros({2})); }), HasSubstr("3 rows of features and 2 labels"));
    EXPECT_THAT(message([] { Loader(torch::tensor(1.0), {}); }), HasSubstr("no rows"));
    EXPECT_THAT(message([] { Loader(std::make_shared<CountingStream>(3), {.shuffle = true}); }), HasSubstr("stream"));
    auto beyond = rows(3, {.sampler = std::make_shared<SequentialSampler>(4)});
    EXPECT_THAT(message([&] { pass_of(*beyond, 0); }), HasSubstr("row 3 of 3"));
}

TEST(F28_Loader, a_stream_alone_keeps_its_last_short_batch_and_a_batch_sampler_of_ones_own_is_taken) {
    auto stream = Loader(std::make_shared<CountingStream>(5), {.batch_size = 2}).take();
    stream->divide({});
    EXPECT_EQ(text_of(pass_of(*stream, 0)), "0 1;2 3;4");
    auto own = rows(6, {.batch_sampler = std::make_shared<VaryingBatches>(std::vector<std::int64_t>{1, 3, 2})});
    EXPECT_EQ(text_of(pass_of(*own, 0)), "0;1 2 3;4 5");
    EXPECT_EQ(own->batches(), 3);
    EXPECT_EQ(own->total_batch_size(), std::nullopt);
}

}  // namespace
}  // namespace mantissa
