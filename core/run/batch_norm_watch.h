#pragma once
// A broken batch can leave a batch norm's statistics far off while the training loss recovers: only an evaluation shows it. This looks
// at the running variances every few steps, one read for all of them, and tells a sudden rise once, also a finite one.
#include <string>
#include <vector>

#include "run/loop_watch.h"

namespace mantissa {

class BatchNormWatch : public LoopWatch {
  public:
    static constexpr std::int64_t every_steps = 10;
    static constexpr std::int64_t settling_steps = 50;  // from 1 to the data's own variance, at the usual momentum of 0.1
    static constexpr double sudden = 100;               // times, between two looks

    explicit BatchNormWatch(const LoopContext& context);
    void after_step(const StepOutcome& outcome, const std::vector<Batch>& micro_batches) override;

  private:
    [[nodiscard]] std::vector<double> largest() const;

    RunRecorder& m_recorder;
    std::vector<std::string> m_names;
    std::vector<torch::Tensor> m_variances;
    std::vector<double> m_before;  // at the last look
    std::int64_t m_steps = 0;
    bool m_is_told = false;
};

}  // namespace mantissa
