#pragma once
// Every observe.local_error_every steps: the step's first micro-batch goes forward and backward twice more with the weights of the step, in
// the run's mode and in fp32, from the same random state, and what the two differ by is recorded: rounding here, apart from the drift
// since step 0. Buffers and random states go back, gradients are read apart from those of the run, so the run's bits don't change; the
// time is part of that step's. Mode `no` has nothing to compare. Gradients are left out where they overflow at the loss scale in use.
#include <string>
#include <utility>
#include <vector>

#include "run/loop_watch.h"

namespace mantissa {

class LocalErrorWatch : public LoopWatch {
  public:
    explicit LocalErrorWatch(const LoopContext& context)
        : m_plan(context.plan), m_parts(context.parts), m_recorder(context.session.recorder) {}

    void before_update(std::int64_t step, const std::vector<Batch>& micro_batches) override;

  private:
    struct Pass {
        std::vector<std::pair<std::string, torch::Tensor>> outputs;  // places in the order of computation
        std::vector<torch::Tensor> gradients;                        // unscaled, as parameters; undefined for unused ones
    };
    [[nodiscard]] Pass pass(const Batch& batch, bool is_fp32);
    void record(std::int64_t step, const Pass& exact, const Pass& mode);

    const RunPlan& m_plan;
    RunParts& m_parts;
    RunRecorder& m_recorder;
};

}  // namespace mantissa
