// What a prepared loader knows of its pass: the last batch, the epoch, nested loaders, and where to go on after a resume (F28, F32).
#include "engine/prepared_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_error.h"
#include "small_model.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Five batches of one sample: 10 · epoch + number.
class Counting : public BatchSource {
  public:
    void begin(std::int64_t epoch) override {
        m_epoch = epoch;
        m_next = 0;
    }
    std::optional<Batch> next() override {
        if (m_next == 5) return std::nullopt;
        const auto number = static_cast<double>(10 * m_epoch + m_next++);
        return Batch{torch::full({1}, number), torch::zeros({1}, at::kLong)};
    }

  private:
    std::int64_t m_epoch = 0, m_next = 0;
};

AcceleratorOptions plain(std::int64_t accumulation = 1) {
    return {.mixed_precision = Precision::No, .device = "cpu", .gradient_accumulation_steps = accumulation};
}

PreparedLoader counting(Accelerator& accelerator) { return accelerator.prepare(Loader(std::make_unique<Counting>())); }

std::vector<double> rest_of(PreparedLoader& loader) {
    std::vector<double> seen;
    while (auto batch = loader.next()) seen.push_back(value(batch->features));
    return seen;
}

std::vector<double> pass(PreparedLoader loader) {
    loader.start_pass();
    return rest_of(loader);
}

TEST(PreparedLoaderState, goes_on_with_exactly_the_next_batch_after_every_batch_of_two_passes) {
    Accelerator accelerator(plain());
    for (int taken = 0; taken <= 10; ++taken) {
        auto stopped = counting(accelerator), resumed = counting(accelerator);
        std::vector<double> expected, seen;
        stopped.start_pass();
        for (int i = 0; i < taken; ++i) {
            if (!stopped.next()) {
                stopped.start_pass();
                static_cast<void>(stopped.next());
            }
        }
        resumed.load_state(stopped.state());
        for (auto* loader : {&stopped, &resumed}) {
            auto& into = loader == &stopped ? expected : seen;
            if (loader == &resumed) loader->start_pass();
            into = rest_of(*loader);
            if (into.empty()) into = pass(*loader);
        }
        EXPECT_EQ(seen, expected) << "after " << taken << " batches";
        EXPECT_EQ(resumed.epoch(), stopped.epoch());
    }
}

TEST(PreparedLoaderState, a_bundle_that_does_not_fit_changes_nothing) {
    Accelerator accelerator(plain());
    auto loader = counting(accelerator);
    loader.set_epoch(3);
    StateBundle bundle = loader.state();
    bundle.facts["consumed"] = std::int64_t{-1};
    EXPECT_THROW(loader.load_state(bundle), EngineError);
    bundle = loader.state();
    bundle.facts.erase("epoch");
    EXPECT_THROW(loader.load_state(bundle), std::runtime_error);
    loader.start_pass();
    static_cast<void>(loader.next());
    bundle = loader.state();
    bundle.facts["samples"] = std::int64_t{17};
    try {
        loader.load_state(bundle);
        ADD_FAILURE() << "accepted";
    } catch (const EngineError& error) {
        EXPECT_THAT(error.error().message, HasSubstr("samples: 17, this one has -1"));
    }
    EXPECT_THAT(rest_of(loader), ElementsAre(31, 32, 33, 34));
}

TEST(PreparedLoader, a_whole_pass_counts_the_epoch_and_a_broken_one_does_not) {
    Accelerator accelerator(plain());
    auto loader = counting(accelerator);
    EXPECT_THAT(pass(loader), ElementsAre(0, 1, 2, 3, 4));
    for (const Batch& batch : loader) {
        if (value(batch.features) == 12) break;
    }
    EXPECT_EQ(loader.epoch(), 1);
    EXPECT_THAT(pass(loader), ElementsAre(10, 11, 12, 13, 14));
    loader.set_epoch(7);  // an explicit one holds, and is counted on
    EXPECT_THAT(pass(loader), ElementsAre(70, 71, 72, 73, 74));
    EXPECT_EQ(loader.epoch(), 8);
}

TEST(PreparedLoader, the_loader_begun_last_says_where_the_data_end) {
    Accelerator accelerator(plain(4));
    auto outer = counting(accelerator), inner = counting(accelerator);
    std::vector<bool> syncs;
    for (const Batch& batch : outer) {
        if (value(batch.features) == 4) {  // the last one; an evaluation in between doesn't hide it
            for (const Batch& other : inner) {
                if (value(other.features) == 1) {
                    EXPECT_FALSE(inner.end_of_dataloader());
                    accelerator.accumulate();  // the 5th: not the end of the active loader, and no multiple of 4
                    EXPECT_FALSE(accelerator.sync_gradients());
                    break;
                }
            }
        }
        accelerator.accumulate();
        syncs.push_back(accelerator.sync_gradients());
    }
    EXPECT_THAT(syncs, ElementsAre(false, false, false, true, true));
    accelerator.accumulate();  // no loader is active any more
    EXPECT_FALSE(accelerator.sync_gradients());
}

TEST(PreparedLoader, a_handle_may_move_in_the_middle_of_a_pass) {
    Accelerator accelerator(plain());
    auto loader = std::make_unique<PreparedLoader>(counting(accelerator));
    auto iterator = loader->begin();
    const PreparedLoader moved = std::move(*loader);
    loader.reset();
    ++iterator;
    EXPECT_EQ(value(iterator->features), 1);
}

TEST(SkipFirstBatches, holds_for_one_epoch) {
    Accelerator accelerator(plain());
    auto loader = counting(accelerator);
    EXPECT_THAT(pass(skip_first_batches(loader, 3)), ElementsAre(3, 4));
    EXPECT_THAT(pass(loader), ElementsAre(10, 11, 12, 13, 14));
    EXPECT_THAT(pass(skip_first_batches(loader, 5)), ElementsAre());
    EXPECT_THROW(static_cast<void>(skip_first_batches(loader, -1)), EngineError);
}

}  // namespace
}  // namespace mantissa
