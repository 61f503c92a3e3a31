#pragma once
// What the processes of one run decide and count together. Every call is collective. Thread: the one that trains.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/process_group.h"
#include "engine/step_facts.h"
#include "host/run_control.h"

namespace mantissa {

class Ranks {
  public:
    explicit Ranks(std::shared_ptr<ProcessGroup> group) : m_group(std::move(group)) {}

    [[nodiscard]] const std::shared_ptr<ProcessGroup>& group() const { return m_group; }
    [[nodiscard]] bool is_main() const { return m_group->rank() == 0; }

    [[nodiscard]] Result<void> agree(const Result<void>& own) const;

    /// RunControl::at_step_edge for all at once: the main process's pause holds everyone, a stop, an interrupt or a checkpoint that
    /// reached any process is everyone's, at the same edge.
    [[nodiscard]] RunControl::Next at_step_edge(RunControl& control, const std::function<void(bool paused)>& on_pause,
                                                const std::function<void()>& on_checkpoint) const;

    /// Losses of the micro-batches and their mean over all processes, each process's share by the samples that it had; `samples`
    /// becomes that of all, one number a micro-batch.
    void share(StepFacts& facts, std::vector<std::int64_t>& samples) const;

    /// Sums over all processes, in place.
    void add_up(std::vector<double>& values) const;

  private:
    std::shared_ptr<ProcessGroup> m_group;
};

}  // namespace mantissa
