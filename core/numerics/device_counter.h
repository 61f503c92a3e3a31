#pragma once
// Who counts a tensor's values on a GPU: a kernel of the CUDA plugin. Without one, ATen operations do (slower, the same counts).
namespace at {
class Tensor;
}

namespace mantissa {

/// A one-dimensional contiguous float32 tensor on a GPU -> the packed row of numerics/packed_layout.h, on the same GPU.
using DeviceCounter = at::Tensor (*)(const at::Tensor& values);
/// For this process; null: ATen.
void count_on_device_by(DeviceCounter counter);

}  // namespace mantissa
