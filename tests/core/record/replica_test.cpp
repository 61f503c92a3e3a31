#include "record/replica.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

TEST(Replica, OnlyARepetitionChangesTheOrder) {
    const std::uint64_t seed = 7;
    EXPECT_EQ(Replica{}.order_seed(seed), seed);
    EXPECT_EQ((Replica{ReplicaRole::Rounding, 1}).order_seed(seed), seed);
    std::set<std::uint64_t> seeds{seed, seed + 1, seed + 2};
    for (std::int64_t i = 1; i <= 20; ++i) EXPECT_TRUE(seeds.insert((Replica{ReplicaRole::Repetition, i}).order_seed(seed)).second);
}

TEST(Replica, PlannedOnesCountFromOne) {
    const auto all = planned_replicas(2, 1);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1].label(), "repetition 2");
    EXPECT_EQ(all[2].label(), "rounding 1");
    EXPECT_EQ(Replica{}.label(), "");
}

TEST(Replica, IsReadAsItWasWrittenAndADamagedFileIsAnError) {
    const testing::TemporaryFolder folder;
    const auto none = read_replica(folder.path());
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none->is_replica());
    const Replica replica{ReplicaRole::Rounding, 2};
    ASSERT_TRUE(write_replica(folder.path(), replica).ok());
    EXPECT_EQ(*read_replica(folder.path()), replica);
    std::ofstream(folder.path() / "replica.json") << R"({"role": "copy", "number": 1})";
    EXPECT_FALSE(read_replica(folder.path()).ok());
    std::ofstream(folder.path() / "replica.json") << R"({"role": "repetition", "number": 0})";
    EXPECT_FALSE(read_replica(folder.path()).ok());
}

}  // namespace
}  // namespace mantissa
