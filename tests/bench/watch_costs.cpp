#include "watch_costs.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "loops.h"
#include "run/replay_run.h"
#include "run/replay_watch.h"
#include "statistics.h"
#include "torch_pch.h"

namespace mantissa::bench {
namespace {

namespace fs = std::filesystem;

// The first two steps aren't timed: five of the 250 others are those of level 1, and of kept states.
constexpr std::int64_t steps = 252;
constexpr int steps_of_a_replay = 8;  // timed together: one alone is too short

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
    plan.observe.keep_states = kind.keep_states;
    if (!kind.alarms) plan.observe.alarms = {"off"};
    return plan;
}

struct TemporaryRuns {
    TemporaryRuns() {
        std::string pattern = (fs::temp_directory_path() / "mantissa-bench-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) path = pattern;
    }
    ~TemporaryRuns() {
        std::error_code ignored;
        if (!path.empty()) fs::remove_all(path, ignored);
    }
    TemporaryRuns(const TemporaryRuns&) = delete;
    TemporaryRuns& operator=(const TemporaryRuns&) = delete;
    void clear() const {
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(path, ignored)) fs::remove_all(entry, ignored);
    }
    fs::path path;
};

/// What one run, or so many steps of a replay, took.
struct Cost {
    double step_us = 0;
    double last_loss = 0;
};

Cost cost_of(const Timing& timing) {
    const auto total = static_cast<double>(std::accumulate(timing.step_ns.begin(), timing.step_ns.end(), std::int64_t{0}));
    return {total / 1000 / static_cast<double>(timing.step_ns.size()), timing.last_loss};
}

/// The steps of a replay, one after another, each with or without a look at every op.
class ReplaySteps {
  public:
    explicit ReplaySteps(Precision mode) : m_plan(plan_of(mode, watch_kinds[0])), m_run(m_plan, m_watch) {}

    Cost next(bool looks) {
        Cost cost;
        const std::int64_t before = thread_cpu_ns();
        for (int i = 0; i < steps_of_a_replay; ++i) {
            const auto scale = m_run.parts().accelerator.loss_scale_state();
            m_watch.begin_step(m_run.parts().bare_model(),
                               {looks, looks, scale ? std::optional(scale->scale) : std::nullopt, false, {}});
            cost.last_loss = m_run.next_step().outcome.facts.loss;
            m_watch.end_step(m_run.parts().bare_model(), m_run.runner());
        }
        cost.step_us = static_cast<double>(thread_cpu_ns() - before) / 1000 / steps_of_a_replay;
        return cost;
    }

  private:
    RunPlan m_plan;
    ReplayWatch m_watch{WatchedValue{}};
    ReplayRun m_run;
};

struct Ratios {
    std::vector<double> ratios, without_us;
};

/// One pair: which of the two comes first takes turns.
void add_pair(Ratios& to, bool counts, bool is_first, const std::function<Cost(bool with)>& take) {
    const Cost one = take(!is_first), two = take(is_first);
    const Cost &without = is_first ? one : two, &with = is_first ? two : one;
    if (!counts) return;
    to.without_us.push_back(without.step_us);
    to.ratios.push_back(with.step_us / without.step_us);
}

nlohmann::json json_of(const WatchKind& kind, const Ratios& ratios) {
    const bool is_step = kind.level > 2;
    return {{"ratio", median(ratios.ratios)},
            {"unit", is_step ? "CPU time of a step of a replay over that without a look" : "CPU time of the run over that without"},
            {"runs", ratios.ratios.size()}, {"interval95", interval(ratios.ratios)}, {"limit", kind.limit},
            {"without_us", median(ratios.without_us)}, {"ratios", ratios.ratios}};
}

}  // namespace

const WatchKind* find_watch_kind(const std::string& name) {
    const auto* const found = std::find_if(watch_kinds.begin(), watch_kinds.end(), [&](const WatchKind& one) { return one.name == name; });
    return found == watch_kinds.end() ? nullptr : found;
}

std::string watch_kind_names() {
    std::string names;
    for (const WatchKind& kind : watch_kinds) {
        if (*kind.over != '\0') names += (names.empty() ? "" : ", ") + std::string(kind.name);
    }
    return names;
}

int run_watch_ratios(Precision mode, int pairs, const std::string& only) {
    at::set_num_threads(1);
    const TemporaryRuns runs;
    if (runs.path.empty()) return 6;
    std::array<Ratios, watch_kinds.size()> measured;
    std::optional<ReplaySteps> replay;
    // A round times every kind beside its own run without: the kinds take turns, so that a slow minute meets them all.
    for (int pair = -1; pair < pairs; ++pair) {  // the first one warms up
        for (std::size_t i = 0; i < watch_kinds.size(); ++i) {
            const WatchKind& kind = watch_kinds[i];
            if (*kind.over == '\0' || (!only.empty() && only != kind.name)) continue;
            const bool is_first = (pair + static_cast<int>(i)) % 2 == 0;
            if (kind.level > 2) {
                if (!replay) replay.emplace(mode);
                add_pair(measured[i], pair >= 0, is_first, [&](bool looks) { return replay->next(looks); });
                continue;
            }
            std::vector<double> losses;
            std::string wrong;
            add_pair(measured[i], pair >= 0, is_first, [&](bool with) {
                const auto timing = time_product(plan_of(mode, with ? kind : *find_watch_kind(kind.over)), runs.path);
                if (!timing) wrong = describe(timing.error());
                losses.push_back(timing ? timing->last_loss : 0);
                return timing ? cost_of(*timing) : Cost{};
            });
            if (wrong.empty() && losses[0] != losses[1]) wrong = std::string(kind.name) + " changed the training";
            if (!wrong.empty()) {
                std::fprintf(stderr, "mantissa-bench: %s\n", wrong.c_str());
                return 1;
            }
        }
        runs.clear();
    }
    nlohmann::json results = nlohmann::json::object();
    for (std::size_t i = 0; i < watch_kinds.size(); ++i) {
        if (!measured[i].ratios.empty()) results[watch_kinds[i].name] = json_of(watch_kinds[i], measured[i]);
    }
    std::printf("%s\n", results.dump().c_str());
    return 0;
}

int run_watch_memory(Precision mode, const WatchKind& kind) {
    at::set_num_threads(1);
    const TemporaryRuns runs;
    if (runs.path.empty()) return 6;
    if (kind.level > 2 || kind.name == std::string("plain-step")) {
        static_cast<void>(ReplaySteps(mode).next(kind.level > 2));
    } else if (const auto timing = time_product(plan_of(mode, kind), runs.path); !timing) {
        std::fprintf(stderr, "mantissa-bench: %s\n", describe(timing.error()).c_str());
        return 1;
    }
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    std::printf("%lld\n", static_cast<long long>(used.ru_maxrss) * 1024);
    return 0;
}

}  // namespace mantissa::bench
