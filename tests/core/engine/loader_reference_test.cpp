// Loaders beside Accelerate 1.15 itself: loader_reference.txt holds what it gave each process (make_loader_reference.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/seeds.h"
#include "loader_testing.h"

namespace mantissa {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Case {
    std::vector<std::string> words;
    std::string expected, line;
    [[nodiscard]] std::int64_t number(std::size_t i) const { return std::stoll(words.at(i)); }
};

std::vector<Case> cases(const std::string& kind) {
    std::ifstream file(std::string(MANTISSA_TEST_DATA) + "/core/engine/loader_reference.txt");
    std::vector<Case> found;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(kind + " ")) continue;
        const auto colon = line.find(':');
        std::istringstream head(line.substr(0, colon));
        Case one{{std::istream_iterator<std::string>(head), {}}, line.substr(colon + 1), line};
        found.push_back(std::move(one));
    }
    return found;
}

TEST(F29_Sharding, every_case_of_the_grid_gives_each_process_the_batches_that_accelerate_gives) {
    const auto grid = cases("map");
    ASSERT_EQ(grid.size(), 640u);
    for (const auto& one : grid) {
        const std::int64_t ranks = one.number(3);
        std::string text;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            auto base = std::make_shared<SamplerBatches>(std::make_shared<SequentialSampler>(one.number(1)), one.number(2),
                                                         one.number(6) == 1);
            BatchSamplerShard shard(base, ranks, rank, one.number(4) == 1, one.number(5) == 1);
            const Batches batches = all_of(shard);
            text += (rank > 0 ? "/" : "") + text_of(batches);
            EXPECT_EQ(text_of(all_of(shard)), text_of(batches)) << "the second pass of " << one.line;
            if (one.number(1) > 0 && (one.number(4) == 0 || one.number(5) == 1)) {  // uneven parts: the last may be empty
                EXPECT_EQ(shard.length(), static_cast<std::int64_t>(batches.size())) << one.line;
            }
        }
        EXPECT_EQ(text, one.expected) << one.line;
    }
}

TEST(F29_Sharding, batches_of_varying_size_go_round_as_accelerate_has_them) {
    const auto grid = cases("own");
    ASSERT_EQ(grid.size(), 20u);
    for (const auto& one : grid) {
        std::vector<std::int64_t> sizes;
        std::istringstream list(one.words.at(1));
        for (std::string size; std::getline(list, size, ',');) sizes.push_back(std::stoll(size));
        std::string text;
        for (std::int64_t rank = 0; rank < one.number(2); ++rank) {
            BatchSamplerShard shard(std::make_shared<VaryingBatches>(sizes), one.number(2), rank, false, one.number(3) == 1);
            text += (rank > 0 ? "/" : "") + text_of(all_of(shard));
        }
        EXPECT_EQ(text, one.expected) << one.line;
    }
}

TEST(F29_Sharding, streams_are_divided_sample_by_sample_as_accelerate_divides_them) {
    const auto grid = cases("stream");
    ASSERT_EQ(grid.size(), 220u);
    for (const auto& one : grid) {
        std::string text;
        for (std::int64_t rank = 0; rank < one.number(3); ++rank) {
            const LoaderOptions options{.batch_size = one.number(2), .drop_last = one.number(5) == 1};
            auto source = Loader(std::make_shared<CountingStream>(one.number(1)), options).take();
            source->divide(division(rank, one.number(3), one.number(4) == 1));
            const Batches batches = pass_of(*source, 0);
            text += (rank > 0 ? "/" : "") + text_of(batches);
            EXPECT_EQ(source->batches(), static_cast<std::int64_t>(batches.size())) << one.line;
            source->begin(1);
            source->skip(1);
            EXPECT_EQ(flat(pass_of(*source, 0, false)), flat(Batches(batches.begin() + !batches.empty(), batches.end())));
        }
        EXPECT_EQ(text, one.expected) << one.line;
    }
}

TEST(F29_Sharding, the_tables_of_the_field_hold_for_whole_loaders) {
    const auto shard = [](std::int64_t count, bool split, bool even, bool drop) {
        std::string text;
        for (int rank = 0; rank < 2; ++rank) {
            auto source = rows(count, {.batch_size = 4, .drop_last = drop});
            source->divide(division(rank, 2, split, even));
            text += (rank > 0 ? " / " : "") + text_of(pass_of(*source, 0));
        }
        return text;
    };
    EXPECT_EQ(shard(11, false, true, false), "0 1 2 3;8 9 10 0 / 4 5 6 7;1 2 3 4");
    EXPECT_EQ(shard(11, false, false, false), "0 1 2 3;8 9 10 / 4 5 6 7");
    EXPECT_EQ(shard(11, false, true, true), "0 1 2 3 / 4 5 6 7");
    EXPECT_EQ(shard(11, true, true, false), "0 1;4 5;8 9 / 2 3;6 7;10 0");
    EXPECT_EQ(shard(3, false, true, false), "0 1 2 0 / 1 2 0 1");
}

TEST(F29_Sharding, split_batches_wants_a_batch_size_that_can_be_divided) {
    for (const bool is_stream : {false, true}) {
        auto source = is_stream ? Loader(std::make_shared<CountingStream>(9), {.batch_size = 3}).take() : rows(9, {.batch_size = 3});
        try {
            source->divide(division(0, 2, true));
            ADD_FAILURE() << "accepted";
        } catch (const EngineError& error) {
            EXPECT_THAT(error.error().message, AllOf(HasSubstr("batch size is 3"), HasSubstr("2 processes")));
        }
    }
}

TEST(F31_SeedableSampler, orders_of_several_epochs_are_accelerates_to_the_bit) {
    const auto grid = cases("seedable");
    ASSERT_EQ(grid.size(), 3u);
    for (const auto& one : grid) {
        const LoaderOptions given{.batch_size = 4, .shuffle = true, .use_seedable_sampler = true, .data_seed = one.number(2)};
        EXPECT_EQ(orders(*rows(one.number(1), given), one.number(3)), one.expected) << one.line;
        set_seed(one.number(2));  // without a data seed: torch's initial seed, as it was at prepare()
        auto source = rows(one.number(1), {.batch_size = 4, .shuffle = true, .use_seedable_sampler = true});
        source->divide({});
        set_seed(999);
        EXPECT_EQ(orders(*source, one.number(3)), one.expected) << one.line;
    }
}

TEST(F31_SeedableSampler, plain_shuffling_draws_from_the_default_generator_as_python_does) {
    const auto grid = cases("plain");
    ASSERT_EQ(grid.size(), 3u);
    for (const auto& one : grid) {
        set_seed(one.number(2));
        auto source = rows(one.number(1), {.batch_size = 4, .shuffle = true});
        std::string text = orders(*source, one.number(3)) + "/";
        std::array<char, 64> number{};
        std::snprintf(number.data(), number.size(), "%.13a", torch::rand({1}).item<double>());
        EXPECT_EQ(text + number.data(), one.expected) << one.line;
    }
}

TEST(F31_SeedableSampler, a_generator_of_ones_own_goes_on_from_pass_to_pass) {
    const auto grid = cases("generator");
    ASSERT_EQ(grid.size(), 3u);
    for (const auto& one : grid) {
        at::Generator generator = at::detail::createCPUGenerator();
        generator.set_current_seed(static_cast<std::uint64_t>(one.number(2)));
        auto source = rows(one.number(1), {.batch_size = 4, .shuffle = true, .generator = generator});
        EXPECT_EQ(orders(*source, one.number(3)), one.expected) << one.line;
    }
}

}  // namespace
}  // namespace mantissa
