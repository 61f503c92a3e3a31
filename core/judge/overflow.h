#pragma once
// Incidents "activation_overflow" as the engine records them: the place, and what went in and came out there.
#include <string>
#include <vector>

#include "record/rows.h"

namespace mantissa {

/// Texts for people; empty where the incident doesn't tell.
struct OverflowDetail {
    std::string operands, result, dtype;
};

[[nodiscard]] OverflowDetail overflow_detail(const IncidentRow& incident);
/// The first overflow of the format of the mode, with its place: not of fp32, in which the loss and the
/// islands are computed.
[[nodiscard]] const IncidentRow* format_overflow(const std::vector<IncidentRow>& incidents);

}  // namespace mantissa
