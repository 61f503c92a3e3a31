#include "run/ranks.h"

#include <chrono>
#include <utility>

#include "engine/collectives.h"

namespace mantissa {
namespace {

// How long the others may wait in their call while the main process is paused: far below a group's time limit.
constexpr std::chrono::milliseconds longest_wait{1000};

}  // namespace

Result<void> Ranks::agree(const Result<void>& own) const { return collectives::agree(m_group.get(), own); }

RunControl::Next Ranks::at_step_edge(RunControl& control, const std::function<void(bool paused)>& on_pause,
                                     const std::function<void()>& on_checkpoint) const {
    bool is_paused = false;
    while (true) {
        const RunControl::Edge own = control.take_edge();
        const auto number = [](bool set) { return set ? 1.0F : 0.0F; };
        torch::Tensor flags = torch::tensor(
            {number(own.waits && is_main()), number(own.stop), number(own.interrupt), number(own.checkpoint)});
        m_group->all_reduce(flags, ReduceOperation::Max);
        const auto* set = flags.const_data_ptr<float>();
        const bool waits = set[0] != 0, stops = set[1] != 0, interrupts = set[2] != 0;
        if (set[3] != 0) on_checkpoint();
        const bool goes_on_waiting = waits && !stops && !interrupts;
        if (goes_on_waiting != is_paused) {
            is_paused = goes_on_waiting;
            if (is_paused) control.tell_wait_hook(true);
            on_pause(is_paused);
            if (!is_paused) control.tell_wait_hook(false);
        }
        if (interrupts) return RunControl::Next::Interrupt;
        if (stops) return RunControl::Next::Stop;
        if (!waits) {
            control.count_step();
            return RunControl::Next::Go;
        }
        if (is_main()) control.wait_for_command(longest_wait);
    }
}

void Ranks::share(StepFacts& facts, std::vector<std::int64_t>& samples) const {
    const std::size_t count = samples.size();
    std::vector<double> sums(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
        sums[i] = static_cast<double>(samples[i]);
        sums[count + i] = samples[i] > 0 ? facts.losses[i] * sums[i] : 0;
    }
    add_up(sums);
    facts.loss = 0;
    for (std::size_t i = 0; i < count; ++i) {
        samples[i] = static_cast<std::int64_t>(sums[i]);
        facts.losses[i] = sums[count + i] / sums[i];
        facts.loss += facts.losses[i] / static_cast<double>(count);
    }
}

void Ranks::add_up(std::vector<double>& values) const {
    torch::Tensor sums = torch::tensor(values, at::kDouble);
    m_group->all_reduce(sums, ReduceOperation::Sum);
    const auto* numbers = sums.const_data_ptr<double>();
    values.assign(numbers, numbers + values.size());
}

}  // namespace mantissa
