#pragma once
// The grid of a replay: which one change each variant makes, why one is left out, and the request that tries it.
#include <optional>
#include <string>
#include <vector>

#include "host/engine_api.h"
#include "launch/replay_subject.h"

namespace mantissa {

struct ReplayOptions {
    std::filesystem::path run;
    std::optional<std::int64_t> step;
    std::vector<std::string> variants;  // ids; empty: all that tell something
    std::int64_t later_steps = 20;
    std::vector<std::string> what_if;  // "training.optimizer.learning_rate=1e-4": one more variant, "custom"
};

/// Ids in their order, cheapest and most telling first.
[[nodiscard]] const std::vector<std::string>& replay_variant_ids();

/// A plan setting by setting: that of the run with what one variant changes. Errors: BadPlan, Usage with the setting.
Result<SourcedPlan> changed_plan(const ReplaySubject& subject, const VariantReport& variant, const std::string& detail);

class ReplayVariants {
  public:
    /// Errors: Usage (an unknown id), BadPlan (a what-if that can't change within a run).
    static Result<ReplayVariants> plan(const ReplaySubject& subject, const ReplayOptions& options);

    /// The step as it was, watched op by op; `keep_state`: the state at the step, if none is kept.
    [[nodiscard]] ReplayRequest unchanged(const std::filesystem::path& keep_state) const;
    /// All lines of the grid, waiting or left out with the reason. `birth`: what the unchanged replay found.
    [[nodiscard]] std::vector<VariantReport> grid(const std::optional<BirthReport>& birth) const;
    /// `state`: at the step itself.
    [[nodiscard]] Result<ReplayRequest> request(const VariantReport& variant, const std::filesystem::path& state) const;
    /// The wider island when that of an op did not hold; empty: there is none.
    [[nodiscard]] static std::string wider_island(const std::string& island, const std::optional<BirthReport>& birth);

    [[nodiscard]] bool has_grid() const { return !m_ids.empty(); }
    /// Where an unchanged replay begins: early enough to see the values grow, unless that takes minutes.
    [[nodiscard]] std::int64_t start_step() const;

  private:
    ReplayVariants(const ReplaySubject& subject, const ReplayOptions& options) : m_subject(&subject), m_options(options) {}
    [[nodiscard]] ReplayRequest base(const VariantReport& variant) const;
    [[nodiscard]] VariantReport line(const std::string& id, const std::optional<BirthReport>& birth) const;
    [[nodiscard]] std::string why_left_out(const VariantReport& variant, const std::optional<BirthReport>& birth) const;
    [[nodiscard]] std::int64_t half_rate_from() const;
    [[nodiscard]] std::int64_t later_steps() const;

    const ReplaySubject* m_subject;
    ReplayOptions m_options;
    std::vector<std::string> m_ids;
};

}  // namespace mantissa
