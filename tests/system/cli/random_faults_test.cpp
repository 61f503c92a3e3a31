// Faults in runs of two real ranks, at random steps of a random rank: kill -9, a failure that ends it with its exit code, SIGSTOP.
// Printed: the time from the fault until it is told (end state, or "no progress") and until every process is gone.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "base/clock.h"
#include "ranks_support.h"
#include "record/run_reader.h"
#include "record/stall.h"

namespace mantissa::system_test {
namespace {

// In CI; MANTISSA_FAULTS=20 for as many.
constexpr int usual_faults = 6;

struct Times {
    std::int64_t told_ms = 0, gone_ms = 0;
};

std::int64_t since(std::int64_t begin_ns) { return (monotonic_ns() - begin_ns) / 1'000'000; }

template <typename Condition>
bool closely(Condition condition) {
    for (const std::int64_t begin = monotonic_ns(); since(begin) < 120'000; std::this_thread::sleep_for(std::chrono::milliseconds(2)))
        if (condition()) return true;
    return false;
}

std::int64_t last_step(const fs::path& run, std::int64_t rank) {
    const auto lives = read_lives(run);
    return lives.size() > static_cast<std::size_t>(rank) ? lives[static_cast<std::size_t>(rank)].last_step.value_or(-1) : -1;
}

StateRow state_of(const fs::path& run) {
    auto reader = RunReader::open(run);
    const auto state = reader ? (*reader)->state() : Result<StateRow>(reader.error());
    return state ? *state : StateRow{};
}

void strike(const std::string& kind, pid_t worker) {
    if (kind == "exit") {
        // Its record can't grow any more, as on a full disk: it ends with the exit code of that error.
        const rlimit none{1, 1};
        ASSERT_EQ(::prlimit(worker, RLIMIT_FSIZE, &none, nullptr), 0);
        return;
    }
    ASSERT_EQ(::kill(worker, kind == "kill" ? SIGKILL : SIGSTOP), 0);
}

Times one_fault(const std::string& kind, std::int64_t rank, std::int64_t at_step) {
    Home home;
    home.variables["MANTISSA_STALL_MS"] = "3000";  // else 30 s of waiting for each
    Started program(home, endless);
    EXPECT_TRUE(closely([&] { return !home.run_folders().empty() && last_step(home.run_folders().front(), rank) >= at_step; }));
    const fs::path run = home.run_folders().front();
    const pid_t worker = worker_of_rank(home, std::to_string(rank));
    EXPECT_GT(worker, 0);
    Times times;
    const std::int64_t begin = monotonic_ns();
    strike(kind, worker);
    const std::string name = "rank " + std::to_string(rank);
    if (kind == "stop") {
        StallWatch watch;
        std::optional<Stall> stall;
        EXPECT_TRUE(closely([&] { return (stall = watch.look(run, state_of(run).state)).has_value(); }));
        times.told_ms = since(begin);
        EXPECT_EQ(stall->rank, rank);
        EXPECT_EQ(home.run({"runs", "control", "last", "stop"}).code, 0);
    }
    EXPECT_TRUE(closely([&] { return is_end_state(state_of(run).state); }));
    if (kind != "stop") times.told_ms = since(begin);
    EXPECT_TRUE(closely([&] { return workers(home).empty(); }));
    times.gone_ms = since(begin);
    // The one that is left says first what it saw; the launcher, which reaped the other, knows by what.
    EXPECT_NE(program.wait(patience).code, 0);
    const StateRow end = state_of(run);
    if (kind == "kill") {
        EXPECT_THAT(end.reason, StartsWith(name + " was killed by SIGKILL at step "));
    }
    if (kind == "exit") {
        EXPECT_THAT(end.reason, rank == 0 ? HasSubstr("the file size limit is reached while writing") : HasSubstr(name));
    }
    if (kind == "stop") {
        EXPECT_THAT(end.reason, HasSubstr(name + " gives no sign of life"));
    }
    return times;
}

void print(const std::string& what, std::vector<std::int64_t> all) {
    std::sort(all.begin(), all.end());
    std::printf("%s: min %lld, median %lld, max %lld ms of %zu\n", what.c_str(), static_cast<long long>(all.front()),
                static_cast<long long>(all[all.size() / 2]), static_cast<long long>(all.back()), all.size());
}

TEST(RandomFaults, are_told_with_the_rank_and_leave_nothing_behind) {
    std::mt19937 random(20261201);
    std::map<std::string, std::vector<std::int64_t>> told, gone;
    ::setenv("MANTISSA_STALL_MS", "3000", 1);  // of this process, which looks too
    const char* asked = std::getenv("MANTISSA_FAULTS");
    const int faults = asked != nullptr ? std::atoi(asked) : usual_faults;
    for (int i = 0; i < faults; ++i) {
        const std::string kind = std::vector<std::string>{"kill", "exit", "stop"}[static_cast<std::size_t>(i % 3)];
        const std::int64_t rank = static_cast<std::int64_t>(random() % 2), step = static_cast<std::int64_t>(random() % 400);
        SCOPED_TRACE(kind + " of rank " + std::to_string(rank) + " from step " + std::to_string(step));
        const Times times = one_fault(kind, rank, step);
        std::printf("%-4s rank %lld from step %3lld: told after %lld ms, all gone after %lld ms\n", kind.c_str(), static_cast<long long>(rank),
                    static_cast<long long>(step), static_cast<long long>(times.told_ms), static_cast<long long>(times.gone_ms));
        told[kind].push_back(times.told_ms);
        gone[kind].push_back(times.gone_ms);
    }
    for (const auto& [kind, all] : told) print(kind + ", told", all);
    for (const auto& [kind, all] : gone) print(kind + ", all gone", all);
}

}  // namespace
}  // namespace mantissa::system_test
