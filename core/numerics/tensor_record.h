#pragma once
// Records of tensors (levels 1 and 2): one fused pass gives the figures of a TensorStatRow and its exponent histogram. On a CPU the
// record is there at once. On other devices a few ATen operations make one packed row a tensor; take() copies all of them to the host
// together, so it is called a step later. Nothing here is seen by autograd, autocast or RecordFunction.
#include <cstdint>
#include <string>
#include <vector>

#include "record/rows.h"
#include "torch_pch.h"

namespace mantissa {

/// The figures of a floating-point tensor of any dtype and layout; step, name and role are left empty. A `factor` other than 1
/// multiplies in the tensor's precision (fp32 for smaller ones), as unscaling a gradient does.
[[nodiscard]] TensorStatRow tensor_record(const torch::Tensor& tensor, double factor = 1);
/// The record of after − before, and the share of elements with a finite gradient other than 0 that have the same bits as before
/// (unmoved). Three tensors of one shape.
[[nodiscard]] TensorStatRow update_record(const torch::Tensor& before, const torch::Tensor& after, const torch::Tensor& gradient);

/// The records of one step.
class TensorRecords {
  public:
    /// Tensors that hold no floating-point numbers are passed over.
    void add(std::string name, TensorRole role, const torch::Tensor& tensor, double factor = 1);
    void add_update(std::string name, const torch::Tensor& before, const torch::Tensor& after, const torch::Tensor& gradient);

    [[nodiscard]] bool empty() const { return m_rows.empty(); }
    /// Whether take() waits for a device.
    [[nodiscard]] bool is_on_device() const { return !m_on_device.empty(); }
    /// All that was added, in order; nothing is left.
    [[nodiscard]] std::vector<TensorStatRow> take(std::int64_t step);

  private:
    void keep(TensorStatRow row, std::string name, TensorRole role);
    void keep_packed(const torch::Tensor& packed, const torch::Tensor& tensor, std::string name, TensorRole role);

    struct OnDevice {
        torch::Tensor packed;
        std::size_t row;
        at::ScalarType type;
    };
    std::vector<TensorStatRow> m_rows;
    std::vector<OnDevice> m_on_device;
};

/// The device-neutral form, on any device: figures and key counts as one float64 tensor, and the row that it says. Public for the test
/// that both forms agree.
namespace packed_record {
[[nodiscard]] torch::Tensor pack(const torch::Tensor& tensor, double factor);
[[nodiscard]] torch::Tensor pack_update(const torch::Tensor& before, const torch::Tensor& after, const torch::Tensor& gradient);
/// `packed` is on the CPU; `row` knows dtype and elements.
void unpack(const torch::Tensor& packed, at::ScalarType type, TensorStatRow& row);
}  // namespace packed_record

/// Off for the time of a look: gradients, autocast, and those who count operations.
class LookGuard {
    const torch::NoGradGuard m_no_grad;
    const at::DisableRecordFunctionGuard m_uncounted;
    const c10::impl::ExcludeDispatchKeyGuard m_no_autocast{c10::autocast_dispatch_keyset};
};

}  // namespace mantissa
