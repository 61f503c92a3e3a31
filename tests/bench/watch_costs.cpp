#include "watch_costs.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "loops.h"
#include "statistics.h"
#include "torch_pch.h"

namespace mantissa::bench {
namespace {

namespace fs = std::filesystem;

// The first two steps aren't timed: five of the 250 others are those of level 1, and of kept states.
constexpr std::int64_t steps = 252;

RunPlan plan_of(Precision mode, const WatchKind& kind) {
    RunPlan plan;
    plan.name = kind.name;
    plan.model.name = "cnn";
    plan.mixed_precision = mode;
    plan.device = "cpu";
    plan.training.max_steps = steps;
    plan.training.scheduler.name = "constant";
    plan.evaluation.every = 0;
    plan.checkpoint.at_end = false;
    plan.observe.level = kind.level;
    plan.observe.every_steps = 50;
    plan.observe.keep_states = kind.keep_states;
    plan.observe.alarms = {"off"};
    return plan;
}

fs::path temporary_folder() {
    std::string pattern = (fs::temp_directory_path() / "mantissa-bench-XXXXXX").string();
    return ::mkdtemp(pattern.data()) == nullptr ? fs::path() : fs::path(pattern);
}

double total_us(const Timing& timing) {
    return static_cast<double>(std::accumulate(timing.step_ns.begin(), timing.step_ns.end(), std::int64_t{0})) / 1000;
}

}  // namespace

int run_watch_costs(Precision mode, int pairs) {
    at::set_num_threads(1);
    const fs::path runs = temporary_folder();
    if (runs.empty()) return 6;
    const WatchKind& none = watch_kinds.front();
    std::array<std::vector<double>, watch_kinds.size()> ratios;
    std::vector<double> without_us;
    std::string wrong;
    // A round times every kind between two runs without: the kinds take turns, so that a slow minute meets them all.
    for (int pair = -1; pair < pairs && wrong.empty(); ++pair) {  // the first one warms up
        for (std::size_t i = 1; i < watch_kinds.size() && wrong.empty(); ++i) {
            const bool is_first = (pair + static_cast<int>(i)) % 2 == 0;
            const auto one = time_product(plan_of(mode, is_first ? none : watch_kinds[i]), runs);
            const auto two = time_product(plan_of(mode, is_first ? watch_kinds[i] : none), runs);
            if (!one || !two) {
                wrong = describe(one ? two.error() : one.error());
                break;
            }
            const Timing &without = is_first ? *one : *two, &with = is_first ? *two : *one;
            if (without.last_loss != with.last_loss) wrong = std::string(watch_kinds[i].name) + " changed the training";
            if (pair < 0) continue;
            without_us.push_back(total_us(without) / static_cast<double>(without.step_ns.size()));
            ratios[i].push_back(total_us(with) / total_us(without));
        }
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(runs, ignored)) fs::remove_all(entry, ignored);
    }
    std::error_code ignored;
    fs::remove_all(runs, ignored);
    if (!wrong.empty()) {
        std::fprintf(stderr, "mantissa-bench: %s\n", wrong.c_str());
        return 1;
    }
    nlohmann::json results = nlohmann::json::object();
    for (std::size_t i = 1; i < watch_kinds.size(); ++i) {
        results[watch_kinds[i].name] = {{"ratio", median(ratios[i])}, {"unit", "CPU time of the run over that without"},
                                        {"runs", ratios[i].size()}, {"interval95", interval(ratios[i])},
                                        {"limit", watch_kinds[i].limit}, {"without_us", median(without_us)}, {"ratios", ratios[i]}};
    }
    std::printf("%s\n", results.dump().c_str());
    return 0;
}

int run_watch_memory(Precision mode, const std::string& name) {
    at::set_num_threads(1);
    const fs::path runs = temporary_folder();
    if (runs.empty()) return 6;
    for (const WatchKind& kind : watch_kinds) {
        if (kind.name != name) continue;
        const auto timing = time_product(plan_of(mode, kind), runs);
        std::error_code ignored;
        fs::remove_all(runs, ignored);
        if (!timing) return 1;
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        std::printf("%lld\n", static_cast<long long>(used.ru_maxrss) * 1024);
        return 0;
    }
    return 2;
}

}  // namespace mantissa::bench
