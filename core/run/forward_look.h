#pragma once
// The same batch forward once more with the same weights and the same random numbers, watched layer by layer.
#include <vector>

#include "engine/random_states.h"
#include "numerics/output_meter.h"
#include "run/run_parts.h"

namespace mantissa {

/// A forward pass moves batch norm's statistics and, with a dropout, the random numbers: at the end of the scope, or on demand, both are
/// as they were, and the run goes on as if nobody had looked.
class LookAgain {
  public:
    /// With the random numbers as they are.
    explicit LookAgain(const Model& model);
    /// With those that a pass of before began with.
    LookAgain(const Model& model, const RandomNote& of_pass);
    ~LookAgain() { put_back(); }
    LookAgain(const LookAgain&) = delete;
    LookAgain& operator=(const LookAgain&) = delete;
    void put_back();

  private:
    std::vector<torch::Tensor> m_buffers, m_saved;
    NamedTensors m_random;
};

struct ForwardLook {
    OutputMeter meter;
    torch::Tensor output;
};

/// `random`: as the step's own pass with this batch began.
[[nodiscard]] ForwardLook look_forward(RunParts& parts, const Batch& batch, const RandomNote& random);

}  // namespace mantissa
