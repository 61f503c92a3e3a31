#pragma once
// Level 0: the largest finite magnitude and the number of non-finite elements of each tensor of a list, in one pass. On a CPU the
// figures are there at once; on other devices they are one packed tensor that is read when they are asked for.
#include <cstdint>
#include <vector>

#include "engine/readback.h"

namespace mantissa {

class TensorExtremes {
  public:
    TensorExtremes() = default;
    /// Undefined tensors give 0. The magnitudes are multiplied by `factor`, as unscaling does, and stay finite; the counts are of
    /// the values before.
    explicit TensorExtremes(const std::vector<torch::Tensor>& tensors, double factor = 1);

    /// Whether reading waits for a device.
    [[nodiscard]] bool is_on_device() const { return !m_packed.is_empty(); }
    /// Of each tensor; read from the device at the first call.
    [[nodiscard]] std::vector<float>& largest();
    [[nodiscard]] std::vector<std::uint32_t>& nonfinite();  // saturating

  private:
    void read();

    std::vector<float> m_largest;
    std::vector<std::uint32_t> m_nonfinite;
    Readback m_packed;  // [2, tensors] of float64, on its way from a device
};

/// The device-neutral form on any device; public for the test that both agree.
[[nodiscard]] torch::Tensor packed_extremes(const std::vector<torch::Tensor>& tensors, double factor);

}  // namespace mantissa
