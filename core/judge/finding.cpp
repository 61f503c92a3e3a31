#include "judge/finding.h"

#include "base/numbers.h"

namespace mantissa {
namespace {

std::string part_key(const Verdict& verdict, const std::string& part) {
    const auto told_by = verdict.values.find("told_by");
    std::string key = (told_by == verdict.values.end() ? "verdicts" : told_by->second) + "." + verdict.code + "." + part;
    const auto variant = verdict.values.find(part);
    return variant == verdict.values.end() ? key : key + "." + variant->second;
}

}  // namespace

Finding::Finding(std::string code_of, std::string severity_of, std::string mode_of)
    : code(std::move(code_of)), severity(std::move(severity_of)), mode(std::move(mode_of)) {
    if (!mode.empty()) values["mode"] = mode;
}

Finding& Finding::what(std::string variant) {
    return set("what", std::move(variant));
}
Finding& Finding::next(std::string variant) {
    return set("next", std::move(variant));
}

Finding& Finding::set(const std::string& name, std::string text) {
    values[name] = std::move(text);
    return *this;
}

Finding& Finding::set_if(const std::string& name, const std::optional<std::string>& text) {
    return text ? set(name, *text) : *this;
}

Finding& Finding::count(const std::string& name, std::int64_t value) {
    return set(name, readable_count(value));
}

Finding& Finding::number(const std::string& name, const std::optional<double>& value) {
    return value ? set(name, readable_number(*value)) : *this;
}

Finding& Finding::fact(std::string key, TextValues fact_values) {
    facts.push_back({std::move(key), std::move(fact_values)});
    return *this;
}

Result<VerdictParts> verdict_parts(const Verdict& verdict, const TextCatalogue& texts) {
    auto what = texts.fill(part_key(verdict, "what"), verdict.values);
    if (!what) return what.error();
    auto next = texts.fill(part_key(verdict, "next"), verdict.values);
    if (!next) return next.error();
    return VerdictParts{std::move(*what), std::move(*next)};
}

Result<std::string> verdict_text(const Verdict& verdict, const TextCatalogue& texts) {
    const auto parts = verdict_parts(verdict, texts);
    if (!parts) return parts.error();
    return parts->what + (texts.language() == "zh" ? "" : " ") + parts->next;
}

std::vector<Verdict> fill_findings(const std::vector<Finding>& findings, const TextCatalogue& texts) {
    std::vector<Verdict> verdicts;
    for (const Finding& finding : findings) {
        Verdict verdict{finding.code,
                        finding.severity,
                        finding.mode,
                        finding.values,
                        fill_facts(finding.facts, texts),
                        {}};
        const auto text = verdict_text(verdict, texts);
        if (!text) continue;
        verdict.text = *text;
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

std::vector<std::string> fill_facts(const std::vector<Sentence>& facts, const TextCatalogue& texts) {
    std::vector<std::string> sentences;
    for (const Sentence& fact : facts) {
        if (const auto text = texts.fill(fact.key, fact.values)) sentences.push_back(*text);
    }
    return sentences;
}

}  // namespace mantissa
