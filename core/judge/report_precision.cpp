// "Is my precision really on?" in the report: the answer of each run, its four checks behind it.
#include "judge/html_text.h"
#include "judge/precision_answer.h"
#include "judge/report_sections.h"
#include "judge/report_words.h"

namespace mantissa {
namespace {

std::string css_class(CheckMark mark) {
    switch (mark) {
        case CheckMark::Passed: return "ok";
        case CheckMark::Note: return "warning";
        case CheckMark::Failed: return "error";
        case CheckMark::Open:
        case CheckMark::NotNeeded: break;
    }
    return "note";
}

std::string badge(CheckMark mark, const TextCatalogue& texts) {
    return html::text_element(
        "span", std::string(check_sign(mark)) + " " + word(texts, std::string("checks.mark.") + to_string(mark)),
        "badge " + css_class(mark));
}

std::string answer_html(const PrecisionAnswer& answer, const std::string& mode, const TextCatalogue& texts) {
    std::string html = html::element("p", badge(answer.mark, texts) + " " + html::text_element("span", mode, "mode " + mode) +
                                              " " + html::text_element("strong", answer.sentence));
    html += html::list(answer.facts);
    for (const PrecisionCheck& check : answer.checks) {
        html += html::element("p", badge(check.mark, texts) + " " + html::text_element("strong", check.title) + " " +
                                       html::escaped(check.sentence));
        if (!check.facts.empty()) html += html::list(check.facts);
    }
    return html::element("article", html, css_class(answer.mark)) + "\n";
}

}  // namespace

std::string precision_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::string html;
    for (const RunEvidence& run : evidence.runs)
        html += answer_html(precision_answer(precision_evidence(run), texts), to_string(run.summary.mode), texts);
    return html;
}

}  // namespace mantissa
