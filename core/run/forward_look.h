#pragma once
// The same batch forward once more with the same weights, watched layer by layer.
#include <utility>
#include <vector>

#include "numerics/output_meter.h"
#include "run/run_parts.h"

namespace mantissa {

/// Batch norm moves its statistics with every forward pass: at the end of the scope they are as they were.
class BuffersBack {
  public:
    explicit BuffersBack(const Model& model) : m_buffers(model.buffers()) {
        for (const torch::Tensor& buffer : m_buffers) m_saved.push_back(buffer.clone());
    }
    ~BuffersBack() {
        const torch::NoGradGuard no_grad;
        for (std::size_t i = 0; i < m_saved.size(); ++i) m_buffers[i].copy_(m_saved[i]);
    }
    BuffersBack(const BuffersBack&) = delete;
    BuffersBack& operator=(const BuffersBack&) = delete;

  private:
    std::vector<torch::Tensor> m_buffers, m_saved;
};

struct ForwardLook {
    OutputMeter meter;
    torch::Tensor output;
};

[[nodiscard]] ForwardLook look_forward(RunParts& parts, const Batch& batch);

}  // namespace mantissa
