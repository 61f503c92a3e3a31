#pragma once
// Counts ops by phase, name and result dtype, the multiply-adds of matrix products and convolutions, and casts between floating-point
// dtypes: the proof that a mode is on (design rule 5). Armed in the trial and on the first step of a run only (about 1 µs
// an op). Threads: one counter at a time in a process; callbacks may come from autograd's threads.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "record/rows.h"

namespace mantissa {

enum class OpPhase { Forward, Backward };

class OpCounter {
  public:
    OpCounter();  // armed until it is destroyed
    ~OpCounter();
    OpCounter(const OpCounter&) = delete;
    OpCounter& operator=(const OpCounter&) = delete;

    void set_phase(OpPhase phase);
    /// Ops outside of forward and backward (the update, reads of values) are not of interest.
    void pause();
    void resume();

    /// One row per phase, op and dtype, in the order of names.
    [[nodiscard]] std::vector<OpDtypeRow> rows(std::int64_t step) const;

    struct Totals {
        std::int64_t op_kinds = 0, op_kinds_half = 0;
        std::int64_t multiply_adds = 0, multiply_adds_half = 0;
    };
    [[nodiscard]] Totals totals() const;
    /// The op that was running when an exception passed: aten name without namespace; empty when there was
    /// none.
    [[nodiscard]] std::string op_of_last_failure() const;
    /// A fault inside a callback, which torch swallows (design §9); empty when all went well.
    [[nodiscard]] std::string callback_error() const;

  private:
    friend struct OpCounterCallbacks;
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace mantissa
