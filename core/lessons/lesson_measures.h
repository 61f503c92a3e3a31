#pragma once
// What a lesson can read from a recording. A measure is one function of a run, in the table of lesson_measures.cpp.
#include <optional>
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "lessons/lesson.h"

namespace mantissa {

struct MeasureSubject {
    const RunEvidence& run;
    const RunEvidence* other = nullptr;  // what it is set beside
    std::vector<const RunEvidence*> replicas;  // of the control, moved by a last bit
    std::optional<double> argument;
};

[[nodiscard]] const std::vector<std::string>& measure_names();
[[nodiscard]] bool needs_other(std::string_view measure);
/// Measures that are made of earlier figures: ratio difference largest smallest.
[[nodiscard]] bool is_derived(std::string_view measure);

/// NaN and Inf are values (a loss that is lost); empty: the recording doesn't hold it.
[[nodiscard]] std::optional<double> measure(const std::string& name, const MeasureSubject& subject);
[[nodiscard]] std::optional<double> derive(const std::string& name, const std::vector<double>& values);

}  // namespace mantissa
