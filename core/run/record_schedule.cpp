#include "run/record_schedule.h"

#include <algorithm>

namespace mantissa {

RecordSchedule::RecordSchedule(std::int64_t level, std::int64_t every_steps)
    : m_level(level), m_every_steps(std::max<std::int64_t>(every_steps, 1)) {}

void RecordSchedule::set_level(std::int64_t level) {
    if (level == m_level) return;
    m_level = level;
    m_stretch = 1;
    m_records = m_bytes = 0;
    m_is_first = true;
}

std::int64_t RecordSchedule::distance() const {
    if (m_level <= 0) return 0;
    return (m_level == 1 ? m_every_steps : 1) * m_stretch;
}

bool RecordSchedule::is_due(std::int64_t step) const {
    if (m_level <= 0) return false;
    if (m_is_first || step % distance() == 0) return true;
    // A scale that grows at every step is thinned like the rest.
    return m_is_wanted && step - m_last_step >= m_stretch;
}

bool RecordSchedule::recorded(std::int64_t step, std::int64_t bytes) {
    m_is_first = m_is_wanted = false;
    m_last_step = step;
    m_bytes += bytes;
    ++m_records;
    const bool is_full = m_bytes >= bytes_per_distance && m_records >= least_records_per_distance;
    if (!is_full && m_records < records_per_distance) return false;
    m_stretch *= 2;
    m_records = m_bytes = 0;
    return true;
}

}  // namespace mantissa
