#include "judge/precision_answer.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "judge/op_share.h"
#include "judge/precision_sources.h"
#include "judge/report_words.h"
#include "judge/run_figures.h"

namespace mantissa {
namespace {

std::string number(const std::optional<double>& value) {
    if (!value) return "–";
    if (std::isnan(*value)) return "NaN";
    if (std::isinf(*value)) return *value > 0 ? "+Inf" : "-Inf";
    return readable_number(*value);
}

std::string joined(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list;
}

std::string expected_dtype(Precision mode) {
    switch (mode) {
        case Precision::No: return {};
        case Precision::Fp16: return "float16";
        case Precision::Bf16:
        case Precision::Fp8: return "bfloat16";  // what isn't fp8 runs under bf16 autocast
    }
    return {};
}

/// One run's answer in one language.
class Answer {
  public:
    Answer(const PrecisionEvidence& evidence, const TextCatalogue& texts)
        : m_run(evidence), m_texts(texts), m_share(op_share(evidence.ops, evidence.trial)) {
        m_values = {{"mode", to_string(m_run.mode)},
                    {"requested", to_string(m_run.requested.value_or(m_run.mode))},
                    {"effective", m_run.effective ? to_string(*m_run.effective) : ""},
                    {"device", m_run.device_name.empty() ? m_run.device : m_run.device + " (" + m_run.device_name + ")"},
                    {"reason", m_run.state_reason},
                    {"support", m_run.support_reason}};
    }

    PrecisionAnswer whole() {
        PrecisionAnswer answer;
        answer.title = say("title");
        Said said = verdict();
        answer.mark = said.mark;
        answer.sentence = std::move(said.sentence);
        answer.facts = proof();
        answer.checks = {sources(), support(), numbers(), fp8()};
        return answer;
    }

  private:
    struct Said {
        CheckMark mark;
        std::string sentence;
    };

    [[nodiscard]] std::string say(const std::string& key, TextValues more = {}) const {
        more.insert(m_values.begin(), m_values.end());
        return word(m_texts, "checks." + key, more);
    }
    [[nodiscard]] bool was_refused() const { return m_run.trial && !m_run.trial->runs; }
    [[nodiscard]] bool is_half() const { return m_run.mode != Precision::No; }
    /// An end without a single step.
    [[nodiscard]] bool never_ran() const { return m_run.steps == 0 && is_end_state(m_run.state); }

    [[nodiscard]] TextValues share_values() const {
        const OpShare& share = *m_share;
        const bool is_fp8 = m_run.mode == Precision::Fp8 && share.multiply_adds_fp8;
        const std::int64_t counted = is_fp8 ? *share.multiply_adds_fp8 : share.multiply_adds_half;
        const double part = share.multiply_adds > 0 ? static_cast<double>(counted) / static_cast<double>(share.multiply_adds) : 0;
        return {{"half", readable_count(share.kinds_half)},
                {"kinds", readable_count(share.kinds)},
                {"share", readable_percent(part, 0)},
                {"dtype", share.dtype.empty() ? expected_dtype(m_run.mode) : share.dtype},
                {"where", share.step ? say("where.step", {{"step", readable_count(*share.step)}}) : say("where.trial")}};
    }

    [[nodiscard]] Said verdict() const {
        if (was_refused() && m_run.steps == 0) return {CheckMark::Failed, say("answer.refused")};
        if (m_run.effective && m_run.requested && *m_run.effective != *m_run.requested)
            return {CheckMark::Failed, say("answer.other_mode")};
        if (never_ran()) return {CheckMark::Failed, say("answer.never_ran")};
        if (!m_run.effective || m_run.steps == 0) return {CheckMark::Open, say("answer.open")};
        if (!m_share) return {CheckMark::Open, say("answer.unproven")};
        if (!is_half())
            return m_share->kinds_half == 0 ? Said{CheckMark::Passed, say("answer.control", share_values())}
                                            : Said{CheckMark::Failed, say("answer.control_in_half", share_values())};
        if (m_share->kinds_half == 0) return {CheckMark::Failed, say("answer.no_half_op", share_values())};
        if (m_run.mode == Precision::Fp8 && m_share->multiply_adds_fp8)
            return *m_share->multiply_adds_fp8 > 0 ? Said{CheckMark::Passed, say("answer.on_fp8", share_values())}
                                                   : Said{CheckMark::Failed, say("answer.no_fp8", share_values())};
        if (!m_share->dtype.empty() && m_share->dtype != expected_dtype(m_run.mode))
            return {CheckMark::Failed, say("answer.other_dtype", share_values())};
        return {CheckMark::Passed, say(m_share->multiply_adds > 0 ? "answer.on" : "answer.on_kinds", share_values())};
    }

    [[nodiscard]] std::vector<std::string> proof() const {
        std::vector<std::string> facts;
        if (!m_share || m_run.steps == 0) return facts;
        for (const auto& [dtype, ops] : m_share->half_products)
            facts.push_back(say("proof.products", {{"ops", joined(ops)}, {"dtype", dtype}}));
        if (is_half() && !m_share->kept.empty()) facts.push_back(say("proof.kept", {{"ops", joined(m_share->kept)}}));
        return facts;
    }

    [[nodiscard]] PrecisionCheck check(const char* id, Said said) const {
        return {id, said.mark, say(std::string(id) + ".title"), std::move(said.sentence), {}};
    }

    [[nodiscard]] PrecisionCheck sources() const {
        const bool differs = m_run.effective && m_run.requested && *m_run.effective != *m_run.requested;
        PrecisionCheck result =
            check("sources", differs ? Said{CheckMark::Failed, say("sources.differs")}
                             : m_run.effective && !m_run.device.empty() ? Said{CheckMark::Passed, say("sources.ok")}
                             : never_ran() || was_refused()             ? Said{CheckMark::Failed, say("sources.nothing")}
                                                                        : Said{CheckMark::Open, say("sources.open")});
        for (std::string& line : precision_source_lines(m_run.plan_json, m_texts)) result.facts.push_back(std::move(line));
        return result;
    }

    [[nodiscard]] Said support_said() const {
        if (was_refused()) return {CheckMark::Failed, say("support.refused", {{"refusal", m_run.trial->refusal}})};
        if (!m_run.support) return {CheckMark::Open, say("support.open")};
        if (!is_half()) return {CheckMark::Passed, say("support.control")};
        switch (*m_run.support) {
            case Support::Native: return {CheckMark::Passed, say("support.native")};
            case Support::Emulated: return {CheckMark::Note, say("support.emulated")};
            case Support::Unsupported: break;
        }
        return {CheckMark::Failed, say("support.unsupported")};
    }

    [[nodiscard]] PrecisionCheck support() const {
        PrecisionCheck result = check("support", support_said());
        if (!m_run.support_reason.empty()) result.facts.push_back(m_run.support_reason);
        if (!m_run.trial) return result;
        const TrialReport& trial = *m_run.trial;
        if (!trial.runs && !trial.refused_op.empty())
            result.facts.push_back(say("support.refused_at", {{"op", trial.refused_op},
                                                              {"module", trial.refused_module.empty() ? "–" : trial.refused_module}}));
        if (trial.runs)
            result.facts.push_back(say("support.trial", {{"time", readable_number(trial.step_ms)},
                                                         {"memory", readable_bytes(static_cast<std::uint64_t>(
                                                                        std::max<std::int64_t>(0, trial.memory_peak_bytes)))}}));
        if (trial.headroom_bits && is_half())
            result.facts.push_back(say("support.headroom", {{"bits", number(trial.headroom_bits)},
                                                            {"module", trial.headroom_module}}));
        return result;
    }

    [[nodiscard]] Said numbers_said() const {
        const TextValues counts{{"steps", readable_count(m_run.steps)},
                                {"faults", readable_count(m_run.faults)},
                                {"probing", readable_count(m_run.probing)},
                                {"bad", readable_count(m_run.nonfinite_losses + m_run.nonfinite_gradients)},
                                {"first", m_run.first_nonfinite ? readable_count(*m_run.first_nonfinite) : "–"}};
        if (m_run.steps == 0)
            return never_ran() || was_refused() ? Said{CheckMark::Failed, say("numbers.never_ran")}
                                                : Said{CheckMark::Open, say("numbers.open")};
        const bool never_applied = m_run.applied == 0 && m_run.probing + m_run.faults == m_run.steps;
        if (never_applied && m_run.faults > 0) return {CheckMark::Failed, say("numbers.never_applied", counts)};
        if (m_run.first_nonfinite) return {CheckMark::Failed, say("numbers.nonfinite", counts)};
        if (m_run.faults > 0) return {CheckMark::Failed, say("numbers.faults", counts)};
        if (never_applied) return {CheckMark::Open, say("numbers.searching", counts)};
        return m_run.probing > 0 ? Said{CheckMark::Passed, say("numbers.probed", counts)}
                                 : Said{CheckMark::Passed, say("numbers.ok", counts)};
    }

    [[nodiscard]] PrecisionCheck numbers() const {
        PrecisionCheck result = check("numbers", numbers_said());
        if (m_run.steps == 0) return result;
        auto& facts = result.facts;
        facts.push_back(say("numbers.loss", {{"start", number(m_run.loss_start)}, {"now", number(m_run.loss_now)}}));
        facts.push_back(say("numbers.gradient", {{"start", number(m_run.norm_start)}, {"now", number(m_run.norm_now)}}));
        facts.push_back(say("numbers.counts", {{"losses", readable_count(m_run.nonfinite_losses)},
                                               {"gradients", readable_count(m_run.nonfinite_gradients)}}));
        facts.push_back(say("numbers.skips", {{"applied", readable_count(m_run.applied)},
                                              {"steps", readable_count(m_run.steps)},
                                              {"probing", readable_count(m_run.probing)},
                                              {"faults", readable_count(m_run.faults)}}));
        facts.push_back(m_run.scale_start && m_run.scale_now
                            ? say("numbers.scale", {{"start", readable_scale(*m_run.scale_start)},
                                                    {"now", readable_scale(*m_run.scale_now)}})
                            : say("numbers.no_scale"));
        return result;
    }

    /// How many linear layers compute in fp8, and why the others don't.
    [[nodiscard]] std::vector<std::string> layers() const {
        const auto& all = m_run.linear_layers;
        std::vector<std::string> facts;
        if (all.empty()) return facts;
        const auto in_fp8 = std::count_if(all.begin(), all.end(), [](const LinearLayer& one) { return one.is_fp8; });
        facts.push_back(say("fp8.layers", {{"count", readable_count(in_fp8)}, {"all", readable_count(static_cast<std::int64_t>(all.size()))}}));
        for (const LinearLayer& one : all) {
            if (one.is_fp8) continue;
            facts.push_back(say("fp8.kept", {{"module", one.module.empty() ? "–" : one.module},
                                             {"in", std::to_string(one.in)},
                                             {"out", std::to_string(one.out)}}));
        }
        return facts;
    }

    [[nodiscard]] PrecisionCheck fp8() const {
        PrecisionCheck result = fp8_backend();
        result.facts = layers();
        return result;
    }

    [[nodiscard]] PrecisionCheck fp8_backend() const {
        if (m_run.mode != Precision::Fp8) return check("fp8", {CheckMark::NotNeeded, say("fp8.not_asked")});
        if (!m_run.support) return check("fp8", {CheckMark::Open, say("fp8.open")});
        switch (*m_run.support) {
            case Support::Native: return check("fp8", {CheckMark::Passed, say("fp8.native")});
            case Support::Emulated: return check("fp8", {CheckMark::Note, say("fp8.emulated")});
            case Support::Unsupported: break;
        }
        return check("fp8", {CheckMark::Failed, say("fp8.unsupported")});
    }

    const PrecisionEvidence& m_run;
    const TextCatalogue& m_texts;
    std::optional<OpShare> m_share;
    TextValues m_values;
};

}  // namespace

const char* to_string(CheckMark mark) {
    switch (mark) {
        case CheckMark::Passed: return "passed";
        case CheckMark::Note: return "note";
        case CheckMark::Failed: return "failed";
        case CheckMark::Open: return "open";
        case CheckMark::NotNeeded: return "not_needed";
    }
    return "open";
}

const char* check_sign(CheckMark mark) {
    switch (mark) {
        case CheckMark::Passed: return "✓";
        case CheckMark::Note: return "!";
        case CheckMark::Failed: return "✗";
        case CheckMark::Open: return "…";
        case CheckMark::NotNeeded: return "–";
    }
    return "…";
}

PrecisionEvidence precision_evidence(const RunEvidence& run) {
    const RunSummary& summary = run.summary;
    const RunFigures figures = run_figures(run.rows.steps, run.plan.loss_scale_floor);
    PrecisionEvidence evidence;
    evidence.mode = summary.mode;
    evidence.state = summary.state;
    evidence.state_reason = summary.state_reason;
    evidence.device = summary.device;
    evidence.device_name = summary.device_name;
    if (!summary.device.empty()) {  // the engine has written what it found
        evidence.requested = summary.requested;
        evidence.effective = summary.effective;
        evidence.support = summary.support;
        evidence.support_reason = summary.support_reason;
    }
    evidence.planned = summary.planned_steps;
    evidence.steps = figures.attempts;
    const std::int64_t before = summary.resumed ? summary.resumed->applied_steps : 0;
    evidence.applied = std::max<std::int64_t>(0, figures.applied - before);
    evidence.probing = figures.probing;
    evidence.faults = figures.faults;
    evidence.nonfinite_losses = figures.nonfinite_losses;
    evidence.first_nonfinite = figures.first_bad_step();
    for (const StepRow& row : run.rows.steps)
        if (!row.loss_scale && row.nonfinite_grads > 0 && std::isfinite(row.loss)) ++evidence.nonfinite_gradients;
    if (!run.rows.steps.empty()) {
        evidence.loss_start = run.rows.steps.front().loss;
        evidence.loss_now = run.rows.steps.back().loss;
        evidence.norm_start = run.rows.steps.front().grad_norm;
        evidence.norm_now = run.rows.steps.back().grad_norm;
        evidence.scale_start = figures.scale_first;
        evidence.scale_now = summary.final_scale ? summary.final_scale : figures.scale_last;
    }
    evidence.ops = run.rows.op_dtypes;
    evidence.linear_layers = summary.linear_layers;
    evidence.trial = run.trial;
    evidence.plan_json = run.plan_json;
    return evidence;
}

PrecisionAnswer precision_answer(const PrecisionEvidence& evidence, const TextCatalogue& texts) {
    return Answer(evidence, texts).whole();
}

std::string to_plain_text(const PrecisionAnswer& answer) {
    std::string text = answer.title + "\n" + check_sign(answer.mark) + " " + answer.sentence + "\n";
    for (const std::string& fact : answer.facts) text += "    " + fact + "\n";
    for (const PrecisionCheck& check : answer.checks) {
        text += std::string(check_sign(check.mark)) + " " + check.title + ": " + check.sentence + "\n";
        for (const std::string& fact : check.facts) text += "    " + fact + "\n";
    }
    return text;
}

}  // namespace mantissa
