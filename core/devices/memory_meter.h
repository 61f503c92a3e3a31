#pragma once
// Bytes of tensors on one kind of device, as LibTorch's allocators report them, and the resident set of the
// process. Threads: made and used by the training thread; allocations that other threads make on their own
// are not seen (autograd hands the meter on to its threads). Tensors that were there before the meter are not
// counted.
#include <atomic>
#include <cstdint>
#include <memory>

#include "torch_pch.h"

namespace mantissa {

class MemoryMeter {
  public:
    explicit MemoryMeter(at::DeviceType device);
    ~MemoryMeter();
    MemoryMeter(const MemoryMeter&) = delete;
    MemoryMeter& operator=(const MemoryMeter&) = delete;

    [[nodiscard]] std::int64_t current_bytes() const;
    /// Largest since the last begin_step (or since the start).
    [[nodiscard]] std::int64_t peak_bytes() const;
    void begin_step();

  private:
    class Reports;
    std::shared_ptr<Reports> m_reports;
    c10::DebugInfoGuard m_guard;
};

/// resident_bytes(), asked at most 20 times a second.
class HostMemory {
  public:
    [[nodiscard]] std::int64_t bytes();

  private:
    std::int64_t m_bytes = 0, m_asked_ns = 0;
};

}  // namespace mantissa
