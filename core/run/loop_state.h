#pragma once
// What the training loop itself must know to go on from a checkpoint as if it had never stopped, beside what the Accelerator
// saves: its own counters, and proof of which data it belongs to.
#include <cstdint>
#include <string>

#include "checkpoint/state_bundle.h"
#include "record/skip_kind.h"

namespace mantissa {

struct LoopState {
    std::int64_t step = 0;     // attempts done = number of the next
    std::int64_t applied = 0;  // updates applied
    std::int64_t evaluated_at = -1;
    bool poisoned = false;  // a weight is not finite, and that was told
    SkipClassifier skips;
    std::string data_hash, training_split_hash;  // content of the data, indices of the samples that train
};

/// The loop's state as a custom object of save_state/load_state.
class SavedLoop : public Stateful {
  public:
    explicit SavedLoop(LoopState& state) : m_state(state) {}
    [[nodiscard]] StateBundle state() const override;
    /// Refuses another data set's or split's state with a sentence (EngineError BadPlan).
    void load_state(const StateBundle& bundle) override;

  private:
    LoopState& m_state;
};

}  // namespace mantissa
