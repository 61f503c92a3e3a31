// Every row of the collection has a test that runs: none is lost when files are split or renamed.
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mantissa {
namespace {

constexpr int rows = 38;

TEST(FaultRows, every_row_has_a_test) {
    std::set<int> seen;
    bool has_facts = false;
    const auto& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const std::string name = suite.GetTestInfo(j)->name();
            int row = 0;
            if (std::sscanf(name.c_str(), "row_%d_", &row) == 1) seen.insert(row);
            has_facts = has_facts || name.rfind("fact_", 0) == 0;
        }
    }
    for (int row = 1; row <= rows; ++row) EXPECT_EQ(seen.count(row), 1U) << "no test begins with row_" << row << "_";
    EXPECT_EQ(*seen.rbegin(), rows);
    EXPECT_TRUE(has_facts) << "the extra number facts";
}

}  // namespace
}  // namespace mantissa
