#pragma once
// Every limit of every verdict with the same evidence on both sides of it: a number that is just not enough, and one that just is. A code
// without a row here fails VerdictLimits.every_code_has_a_pair.
#include <string>
#include <utility>
#include <vector>

#include "evidence_maker.h"
#include "replay_maker.h"

namespace mantissa::test {

struct VerdictLimit {
    std::string code;   // "slower"; "replay learning_rate" of a replay's verdict
    std::string limit;  // in words
    std::vector<Finding> silent, told;
};

class LimitTable {
  public:
    /// `change` spoils the evidence by a value. With a variant, only a finding with that `what` or `next` counts as told.
    template <typename Change, typename Value>
    void add(const std::string& code, const std::string& limit, const ComparisonEvidence& base, Change change, Value silent, Value told,
             const std::string& variant = {}) {
        const auto found = [&](const Value& value) {
            ComparisonEvidence evidence = base;
            change(evidence, value);
            return only(variant, findings_of(evidence, code));
        };
        m_rows.push_back({code, limit, found(silent), found(told)});
    }

    template <typename Change, typename Value>
    void add_replay(const std::string& code, const std::string& limit, const ReplayReport& base, Change change, Value silent, Value told,
                    const std::string& variant = {}) {
        const auto found = [&](const Value& value) {
            ReplayReport report = base;
            ReplayFacts facts{.control = healthy_control(), .learning_rate = 1.0, .loss_scale = 65536.0};
            change(report, facts, value);
            std::vector<Finding> findings;
            if (auto one = judge_replay(report, facts); one && one->finding.code == code) findings.push_back(std::move(one->finding));
            return only(variant, std::move(findings));
        };
        m_rows.push_back({"replay " + code, limit, found(silent), found(told)});
    }

    [[nodiscard]] const std::vector<VerdictLimit>& rows() const { return m_rows; }

  private:
    static std::vector<Finding> only(const std::string& variant, std::vector<Finding> findings) {
        const auto has = [&](const Finding& one, const char* part) {
            const auto found = one.values.find(part);
            return found != one.values.end() && found->second == variant;
        };
        std::erase_if(findings, [&](const Finding& one) { return !variant.empty() && !has(one, "what") && !has(one, "next"); });
        return findings;
    }

    std::vector<VerdictLimit> m_rows;
};

void add_limits_of_mode_and_scale(LimitTable& table);
void add_limits_of_nonfinite(LimitTable& table);
void add_limits_of_tensors(LimitTable& table);
void add_limits_of_metric_and_cost(LimitTable& table);
void add_limits_of_replays(LimitTable& table);

[[nodiscard]] inline IncidentRow incident_of(const std::string& kind, std::int64_t step, const std::string& module = {}) {
    IncidentRow incident;
    incident.step = step;
    incident.kind = kind;
    incident.severity = "error";
    incident.module = module;
    return incident;
}

}  // namespace mantissa::test
