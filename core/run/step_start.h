#pragma once
// Where a run stands before a step, without what stays until the update: noted before every step, so in plain numbers and in memory
// that is there already; a state is made of it when one is needed. Thread: the one that trains.
#include <array>
#include <optional>

#include "checkpoint/checkpoint_files.h"
#include "engine/random_states.h"
#include "run/loop_state.h"
#include "run/run_parts.h"

namespace mantissa {

class StepStart {
  public:
    void note(std::int64_t step, const RunParts& parts, const LoopState& loop);
    [[nodiscard]] std::int64_t step() const { return m_step; }
    /// Puts into a state of now what it was when it was noted: all but weights, buffers, optimizer and schedule.
    void put_into(Checkpoint& state) const;

  private:
    void note_loader(const PreparedLoader& loader, std::int64_t batches_of_a_step);
    [[nodiscard]] StateBundle loader_state() const;

    /// A whole state of the loader, and how many batches have come since in the same pass.
    struct LoaderPlace {
        StateBundle state;
        std::int64_t epoch = 0;
        bool can_be_counted_on = false;
        std::int64_t batches_since = 0;
    };
    std::int64_t m_step = -1;
    LoopState m_loop;
    struct {
        std::int64_t micro_step = 0, size = 0, attempts = 0, applied = 0;
        bool is_due = true, was_held = false, end_of_data = false;
    } m_window;
    std::optional<LossScaleSchedule::State> m_loss_scale;
    LoaderPlace m_loader;
    RandomNote m_random;
};

}  // namespace mantissa
