#include "run/step_clock.h"

#include "base/clock.h"

namespace mantissa {

StepClock::StepClock(torch::Device device) : m_device(device), m_start_ns(monotonic_ns()) { mark(m_start); }

void StepClock::stop() {
    m_end_ns = monotonic_ns();
    mark(m_end);
}

void StepClock::mark(std::optional<c10::Event>& event) const {
    if (m_device.is_cpu()) return;
    event.emplace(m_device.type(), c10::EventFlag::BACKEND_DEFAULT);  // with a time
    event->record(c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device));
}

std::int64_t StepClock::ns() const {
    if (!m_end) return m_end_ns - m_start_ns;
    m_end->synchronize();
    return static_cast<std::int64_t>(m_start->elapsedTime(*m_end) * 1e6);
}

}  // namespace mantissa
