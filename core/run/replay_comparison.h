#pragma once
// Whether a replay repeats what the run's record says: to the bit, in its pattern, or not; and what may be the reason.
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "record/replay_report.h"
#include "record/rows.h"

namespace mantissa {

class ReplayComparison {
  public:
    /// Reads the steps of the run's record.
    static Result<ReplayComparison> open(const std::filesystem::path& run);

    /// A step as the replay did it.
    void add(const StepRow& here);

    /// Null: the record lacks it.
    [[nodiscard]] const StepRow* recorded(std::int64_t step) const;
    [[nodiscard]] Reproduced reproduced() const;
    /// Empty for bits. `here` is the environment of this process, compared with the run's environment.json.
    [[nodiscard]] std::string reason(const nlohmann::json& here) const;

  private:
    std::filesystem::path m_run;
    std::map<std::int64_t, StepRow> m_record;
    std::int64_t m_compared = 0, m_missing = 0;
    bool m_same_bits = true, m_same_pattern = true;
    std::string m_difference;  // the first one
};

/// What differs between two environments (run/environment.h) that can move a bit; empty: nothing known.
[[nodiscard]] std::string environment_difference(const nlohmann::json& here, const nlohmann::json& there);

}  // namespace mantissa
