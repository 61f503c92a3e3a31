#include "record/skip_kind.h"

#include <algorithm>

namespace mantissa {

SkipKind SkipClassifier::record(const StepAttempt& attempt) {
    SkipKind kind = SkipKind::None;
    if (attempt.skipped) {
        ++m_state.skips_in_row;
        const bool late_row = m_state.applied_once && m_state.skips_in_row >= 3;
        // Written so that a NaN scale counts as a fault too.
        const bool scale_lost = !attempt.scale_after || !(*attempt.scale_after >= 1.0);
        kind = attempt.nonfinite_loss || scale_lost || late_row ? SkipKind::Fault : SkipKind::Probing;
    } else {
        m_state.applied_once = true;
        m_state.skips_in_row = 0;
    }
    remember(kind == SkipKind::Fault);
    return kind;
}

void SkipClassifier::remember(bool fault) {
    bool& slot = m_state.recent[static_cast<std::size_t>(m_state.attempts % window)];
    m_state.faults_in_window += (fault ? 1 : 0) - (slot ? 1 : 0);
    slot = fault;
    ++m_state.attempts;
    m_state.faults_in_row = fault ? m_state.faults_in_row + 1 : 0;
    m_state.longest_fault_row = std::max(m_state.longest_fault_row, m_state.faults_in_row);
    m_state.was_persistent = m_state.was_persistent || is_persistent();
}

bool SkipClassifier::is_persistent() const {
    return m_state.faults_in_row >= persistent_in_row || m_state.faults_in_window >= persistent_in_window;
}

}  // namespace mantissa
