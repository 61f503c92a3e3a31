#pragma once
// A tensor on its way from a device to the host. On a GPU the copy is queued into pinned memory and marked by an event, so that reading it
// a step later waits for what was queued before it, never for what came after: the GPU's queue doesn't run dry. On a CPU the values are
// there at once. Thread: the one that trains.
#include <memory>

#include "engine/process_group.h"

namespace mantissa {

class Readback {
  public:
    Readback() = default;
    /// Of a detached tensor; queued now.
    explicit Readback(const torch::Tensor& tensor);

    [[nodiscard]] bool is_empty() const { return !m_values.defined(); }
    /// Whether values() would not wait.
    [[nodiscard]] bool is_there() const;
    /// On the CPU.
    [[nodiscard]] const torch::Tensor& values() const;

  private:
    torch::Tensor m_values;
    std::shared_ptr<c10::Event> m_copied;  // null on a CPU
};

/// A batch on its way to a GPU: through pinned memory and without a wait; whatever is queued after it finds it there.
[[nodiscard]] torch::Tensor sent_to(const torch::Tensor& tensor, const torch::Device& device);

}  // namespace mantissa
