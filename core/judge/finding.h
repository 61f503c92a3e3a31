#pragma once
// What rules give: codes and numbers without words. `fill_*` turns them into sentences of one language. A
// finding whose text can't be filled is dropped: a verdict without its numbers isn't shown.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/texts.h"
#include "record/comparison_record.h"

namespace mantissa {

/// One sentence to be: a key of the catalogue and its values.
struct Sentence {
    std::string key;
    TextValues values;
};

/// The text of a verdict is two sentences: verdicts.<code>.what[.<variant>] and
/// verdicts.<code>.next[.<variant>]. The variants travel in the values `what` and `next`, so that a reader of
/// the record can fill it again in another language. A value `told_by` names another file than verdicts.
struct Finding {
    std::string code, severity, mode;
    TextValues values;
    std::vector<Sentence> facts;

    Finding(std::string code_of, std::string severity_of, std::string mode_of);
    Finding& what(std::string variant);
    Finding& next(std::string variant);
    Finding& set(const std::string& name, std::string text);
    Finding& set_if(const std::string& name,
                    const std::optional<std::string>& text);  // empty: stays unfilled
    Finding& count(const std::string& name, std::int64_t number);
    Finding& number(const std::string& name, const std::optional<double>& number);
    Finding& fact(std::string key, TextValues fact_values);
};

/// Its two sentences: what happened, what to do next.
struct VerdictParts {
    std::string what, next;
};
[[nodiscard]] Result<VerdictParts> verdict_parts(const Verdict& verdict, const TextCatalogue& texts);
[[nodiscard]] Result<std::string> verdict_text(const Verdict& verdict, const TextCatalogue& texts);
[[nodiscard]] std::vector<Verdict> fill_findings(const std::vector<Finding>& findings,
                                                 const TextCatalogue& texts);
[[nodiscard]] std::vector<std::string> fill_facts(const std::vector<Sentence>& facts, const TextCatalogue& texts);

}  // namespace mantissa
