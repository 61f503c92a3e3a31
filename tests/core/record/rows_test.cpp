#include "record/rows.h"

#include <gtest/gtest.h>

namespace mantissa {
namespace {

TEST(RowsTest, EveryStateHasItsWordAndComesBack) {
    using enum RunState;
    const char* const words[] = {
        "queued",  "trial",       "running", "paused", "finished", "stopped_nonfinite",
        "stopped", "interrupted", "failed",  "lost"};
    int index = 0;
    for (const RunState state :
         {Queued, Trial, Running, Paused, Finished, StoppedNonfinite, Stopped, Interrupted, Failed, Lost}) {
        EXPECT_STREQ(to_string(state), words[index]);
        EXPECT_EQ(parse_run_state(words[index]), state);
        EXPECT_EQ(is_end_state(state), index >= 4) << words[index];
        ++index;
    }
    EXPECT_FALSE(parse_run_state("Running"));
    EXPECT_FALSE(parse_run_state(""));
}

TEST(RowsTest, SkipKindsComeBack) {
    for (const SkipKind kind : {SkipKind::None, SkipKind::Probing, SkipKind::Fault})
        EXPECT_EQ(parse_skip_kind(to_string(kind)), kind);
    EXPECT_STREQ(to_string(SkipKind::Fault), "fault");
    EXPECT_FALSE(parse_skip_kind("faulty"));
}

}  // namespace
}  // namespace mantissa
