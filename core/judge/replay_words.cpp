#include "judge/replay_words.h"

#include <algorithm>

#include "base/numbers.h"

namespace mantissa::replay_words {
namespace {

constexpr std::size_t most_operands = 3;

/// Its operands are told with a × between.
bool multiplies(const std::string& op) { return op == "mul" || op == "pow" || op == "square"; }

std::string outcome_of(const VariantReport& one) {
    if (*one.this_step_finite) return one.holds() ? "held" : one.later_bad_at ? "not_held" : "finite";
    return one.same_place ? "same_place" : one.place.empty() ? "bad" : "elsewhere";
}

std::optional<std::string> sentence_of(const VariantReport& one, const TextCatalogue& texts) {
    if (one.state != "done" || !one.this_step_finite) return {};
    const std::string change_key = "replay.change." + one.id;
    const auto change = texts.fill(texts.has(change_key) ? change_key : "replay.change.custom",
                                   {{"mode", to_string(one.mode)},
                                    {"island", one.island.empty() ? "-" : one.island},
                                    {"from", readable_count(one.from_step)}});
    if (!change) return {};
    const auto text = texts.fill("replay.fact." + outcome_of(one),
                                 {{"change", *change},
                                  {"value", one.value.empty() ? "NaN / Inf" : one.value},
                                  {"place", one.place},
                                  {"steps", readable_count(one.later_bad_at.value_or(one.later_steps))}});
    return text ? std::optional(*text) : std::nullopt;
}

}  // namespace

std::string operands(const OpReading& op) {
    std::string text;
    const std::size_t count = std::min(op.operands.size(), most_operands);
    for (std::size_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : multiplies(op.op) ? " × " : ", ") + readable_number(op.operands[i].largest);
    }
    return text;
}

std::string bad_value(const TensorReading& result) {
    if (result.pos_inf > 0 && result.neg_inf > 0) return "±Inf";
    if (result.pos_inf > 0) return "+Inf";
    return result.neg_inf > 0 ? "-Inf" : "NaN";
}

std::string variant_of_cause(const BirthReport& birth, Finding& finding) {
    std::string variant = birth.code;
    const auto& operands = birth.producer.operands;
    if (birth.code == "log_of_zero" && birth.producer.phase == "backward") variant += "_backward";
    const bool with_sample = birth.sample && (birth.code == "log_of_zero" || birth.code == "bad_input" || birth.code == "masked_row");
    if (with_sample) {
        finding.count("sample", *birth.sample);
        variant += "_sample";
    }
    if (birth.code == "activation_overflow") finding.set("operands", replay_words::operands(birth.producer));
    if (birth.code == "activation_overflow") finding.set("result", bad_value(birth.producer.result));
    if (birth.code == "log_of_zero") {
        // What the logarithm saw is its last operand.
        const bool zero = operands.empty() || operands.back().zero > 0;
        finding.set("operand", zero ? "0" : readable_number(operands.back().smallest_nonzero));
    }
    return variant;
}

std::vector<std::string> evidence(const ReplayReport& report, const ReplayFinding& found, const TextCatalogue& texts) {
    std::vector<Sentence> facts;
    if (report.reproduced) {
        TextValues values{{"step", readable_count(report.step)}, {"start", readable_count(report.start_step)}};
        facts.push_back({std::string("replay.fact.reproduced.") + to_string(*report.reproduced), values});
    }
    if (report.birth && report.birth->step) {
        facts.push_back({"replay.fact.born_earlier", {{"where", report.birth->told_place()}, {"step", readable_count(*report.birth->step)}}});
    }
    if (report.one_bit_left_step && report.birth && !report.birth->place().empty()) {
        facts.push_back({"replay.fact.one_bit_left",
                         {{"where", report.birth->place()}, {"step", readable_count(*report.one_bit_left_step)}}});
    }
    std::vector<std::string> sentences = fill_facts(facts, texts);
    for (const VariantReport& one : report.variants) {
        if (const auto sentence = sentence_of(one, texts)) sentences.push_back(*sentence);
    }
    if (const auto confidence = texts.fill("replay.confidence." + found.confidence)) sentences.push_back(*confidence);
    return sentences;
}

}  // namespace mantissa::replay_words
