#pragma once
// Batch normalisation over the batches of all processes together, as PyTorch's SyncBatchNorm does it on GPUs: two ranks then give the
// numbers of one process with the doubled batch. Statistics are combined from each process's count, mean and sum of squared
// deviations (Chan, Golub, LeVeque 1979), in double precision and in the order of ranks, so that all processes get the same bits.
// Processes may bring unequal numbers of samples, also none.
//
// How: aten::batch_norm is taken over in this thread while a scope lives, whatever module or TorchScript calls it. One collective in
// forward and one in backward, so every process must run them in the same order. A forward pass without gradients (evaluation) stays
// with its own process.
#include <memory>

#include "engine/process_group.h"

namespace mantissa {

class [[nodiscard]] SyncedBatchNormScope {
  public:
    explicit SyncedBatchNormScope(std::shared_ptr<ProcessGroup> group);
    ~SyncedBatchNormScope();
    SyncedBatchNormScope(const SyncedBatchNormScope&) = delete;
    SyncedBatchNormScope& operator=(const SyncedBatchNormScope&) = delete;

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace mantissa
