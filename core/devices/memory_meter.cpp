#include "devices/memory_meter.h"

#include "base/clock.h"
#include "base/process_memory.h"

namespace mantissa {

class MemoryMeter::Reports : public c10::MemoryReportingInfoBase {
  public:
    explicit Reports(at::DeviceType device) : m_device(device) {}

    void reportMemoryUsage(void*, std::int64_t change, std::size_t, std::size_t,
                           c10::Device device) override {
        if (device.type() != m_device) return;
        const std::int64_t now = m_current.fetch_add(change, std::memory_order_relaxed) + change;
        if (now > m_peak.load(std::memory_order_relaxed)) m_peak.store(now, std::memory_order_relaxed);
    }
    bool memoryProfilingEnabled() const override { return true; }

    at::DeviceType m_device;
    std::atomic<std::int64_t> m_current{0}, m_peak{0};
};

MemoryMeter::MemoryMeter(at::DeviceType device)
    : m_reports(std::make_shared<Reports>(device)), m_guard(c10::DebugInfoKind::PROFILER_STATE, m_reports) {}

MemoryMeter::~MemoryMeter() = default;

std::int64_t MemoryMeter::current_bytes() const {
    return m_reports->m_current;
}
std::int64_t MemoryMeter::peak_bytes() const {
    return m_reports->m_peak;
}
void MemoryMeter::begin_step() {
    m_reports->m_peak = m_reports->m_current.load();
}

std::int64_t HostMemory::bytes() {
    const std::int64_t now = monotonic_ns();
    if (m_asked_ns == 0 || now - m_asked_ns > 50'000'000) {
        m_bytes = resident_bytes();
        m_asked_ns = now;
    }
    return m_bytes;
}

}  // namespace mantissa
