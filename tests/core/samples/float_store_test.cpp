#include "samples/float_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;

std::vector<float> counted(std::size_t from, std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), static_cast<float>(from));
    return values;
}

TEST(FloatStore, GrowsInMemoryAndBeyondItsLimitOnDisk) {
    const TemporaryFolder folder;
    FloatStore store(4u << 20, folder.path());
    constexpr std::size_t part = 100'000;
    for (std::size_t i = 0; i < 30; ++i) {
        const auto added = store.append(counted(i * part, part));
        ASSERT_TRUE(added.ok()) << describe(added.error());
        if (i == 5) {
            EXPECT_FALSE(store.is_on_disk()) << "2.4 MB are within the limit";
        }
    }
    EXPECT_TRUE(store.is_on_disk()) << "12 MB aren't";
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "its file has no name: nothing is left, whatever ends the process";
    ASSERT_EQ(store.size(), 30 * part);
    for (std::size_t i = 0; i < store.size(); i += 9'999) ASSERT_EQ(store.data()[i], static_cast<float>(i));
    const FloatStore moved = std::move(store);
    EXPECT_EQ(moved.size(), 30 * part);
    EXPECT_EQ(store.size(), 0u);  // NOLINT(bugprone-use-after-move): what is left is empty
}

TEST(FloatStore, SaysWhereThereIsNoRoom) {
    FloatStore nowhere(1, "/nowhere");
    const auto refused = nowhere.append(counted(0, 10));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("/nowhere can't be used"));
    FloatStore too_large(1);
    const auto full = too_large.reserve(std::uint64_t{1} << 50);
    ASSERT_FALSE(full.ok());
    EXPECT_THAT(full.error().message, ::testing::HasSubstr("left"));
}

}  // namespace
}  // namespace mantissa
