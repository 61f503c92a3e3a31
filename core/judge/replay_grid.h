#pragma once
// Questions to the grid of a replay. Only variants that are done count as evidence.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "record/replay_report.h"

namespace mantissa {

class ReplayGrid {
  public:
    explicit ReplayGrid(const ReplayReport& report) : m_report(report) {}

    [[nodiscard]] const VariantReport* done(std::string_view id) const;
    [[nodiscard]] bool finite(std::string_view id) const;  // done, and finite at the step
    [[nodiscard]] bool bad(std::string_view id) const;     // done, and not finite at the step
    [[nodiscard]] bool holds(std::string_view id) const;   // finite, and for the further steps too
    /// The step was bad when it was done again as it was.
    [[nodiscard]] bool is_bad_as_was() const;
    /// Of mode `no` that is the run itself.
    [[nodiscard]] bool control_bad() const;
    [[nodiscard]] bool control_finite() const;
    /// `no` went bad in the op where the run did.
    [[nodiscard]] bool control_bad_there() const;
    /// The first of these that holds; empty: none.
    [[nodiscard]] std::string first_that_holds(std::initializer_list<std::string_view> ids) const;
    /// "`no`, bf16": where the step is finite.
    [[nodiscard]] std::string finite_modes() const;

  private:
    const ReplayReport& m_report;
};

}  // namespace mantissa
