#include "engine/readback.h"

namespace mantissa {

Readback::Readback(const torch::Tensor& tensor) {
    const torch::NoGradGuard no_grad;
    if (tensor.is_cpu()) {
        m_values = tensor.detach().clone();
        return;
    }
    m_values = torch::empty(tensor.sizes(), tensor.options().device(torch::kCPU).pinned_memory(true).requires_grad(false));
    m_values.copy_(tensor.detach(), /*non_blocking=*/true);
    m_copied = std::make_shared<c10::Event>(tensor.device().type());
    m_copied->record(c10::impl::VirtualGuardImpl(tensor.device().type()).getStream(tensor.device()));
}

bool Readback::is_there() const { return m_copied == nullptr || m_copied->query(); }

const torch::Tensor& Readback::values() const {
    if (m_copied != nullptr) m_copied->synchronize();
    return m_values;
}

torch::Tensor sent_to(const torch::Tensor& tensor, const torch::Device& device) {
    if (!device.is_cuda() || !tensor.is_cpu()) return tensor.to(device);
    // The allocator of pinned memory keeps it from its next user until the copy is through.
    return (tensor.is_pinned() ? tensor : tensor.pin_memory()).to(device, /*non_blocking=*/true);
}

}  // namespace mantissa
