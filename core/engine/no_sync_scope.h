#pragma once
// While it lives, no micro-batch ends an accumulation window: gradients add up, and step, zero_grad, clip and scheduler do nothing.
#include <memory>

#include "engine/accelerator_core.h"

namespace mantissa {

class [[nodiscard]] NoSyncScope {
  public:
    explicit NoSyncScope(std::shared_ptr<AcceleratorCore> accelerator) : m_accelerator(std::move(accelerator)) {
        m_accelerator->hold_sync(true);
    }
    ~NoSyncScope() { m_accelerator->hold_sync(false); }
    NoSyncScope(const NoSyncScope&) = delete;
    NoSyncScope& operator=(const NoSyncScope&) = delete;

  private:
    std::shared_ptr<AcceleratorCore> m_accelerator;
};

}  // namespace mantissa
