#include "judge/html_report.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/version.h"
#include "judge/html_text.h"
#include "judge/judge.h"
#include "judge/report_charts.h"
#include "judge/report_sections.h"
#include "judge/report_style.h"
#include "judge/report_words.h"
#include "judge/resume_text.h"
#include "plan/run_plan.h"
#include "record/run_folder.h"

namespace mantissa {
namespace {

struct Subject {
    ComparisonRecord record;
    ComparisonEvidence evidence;
    bool comparison = false;
};

Result<Subject> read_comparison_subject(const std::filesystem::path& folder, std::string_view language) {
    Subject subject;
    subject.comparison = true;
    auto record = read_comparison(folder);
    if (!record) return record.error();
    auto evidence = load_comparison_evidence(*record);
    if (!evidence) return evidence.error();
    subject.evidence = std::move(evidence).value();
    auto judged = judge_evidence(std::move(record).value(), subject.evidence, language);
    if (!judged) return judged.error();
    subject.record = std::move(judged).value();
    return subject;
}

Result<Subject> read_run_subject(const std::filesystem::path& folder, std::string_view language) {
    Subject subject;
    auto run = load_run_evidence(folder);
    if (!run) return run.error();
    subject.record.name = run->summary.name;
    subject.record.started_ns = run->summary.started_ns;
    subject.record.state = to_string(run->summary.state);
    subject.record.plan_json = run->plan_json;
    subject.record.modes = {run->summary.mode};
    subject.evidence.modes = subject.record.modes;
    subject.evidence.runs.push_back(std::move(run).value());
    auto judged = judge_run(folder, language);
    if (!judged) return judged.error();
    subject.record.verdicts = std::move(judged).value().verdicts;
    return subject;
}

std::string header_html(const Subject& subject, const std::string& title, const TextCatalogue& texts) {
    std::string html = html::text_element("h1", title);
    if (!subject.evidence.runs.empty()) {
        const RunSummary& run = subject.evidence.runs.front().summary;
        const std::string device =
            run.device_name.empty() ? run.device : run.device + " (" + run.device_name + ")";
        html += html::text_element("p",
                                   word(texts, "report.subtitle",
                                        {{"model", or_dash(run.model)},
                                         {"dataset", or_dash(run.dataset)},
                                         {"device", or_dash(device)},
                                         {"time", readable_time(subject.record.started_ns)}}),
                                   "quiet");
    }
    if (subject.comparison) {
        std::string order = subject.record.order;
        if (!subject.record.order_reason.empty()) order += " (" + subject.record.order_reason + ")";
        const std::string key = "report.state." + subject.record.state;
        const std::string state = texts.has(key) ? word(texts, key) : subject.record.state;
        html += html::text_element("p", word(texts, "report.ended", {{"state", state}, {"order", order}}),
                                   "quiet");
    }
    for (const RunEvidence& run : subject.evidence.runs) {
        const double initial = run.plan.loss_scale_initial.value_or(LossScalePlan{}.initial);
        const auto lines = resumed_run_texts(texts, run.summary, initial);
        if (!lines) continue;
        for (const std::string& line : *lines) html += html::text_element("p", line, "quiet");
    }
    return html::element("header", html);
}

std::string named_section(const TextCatalogue& texts, const char* name, const std::string& inner) {
    return inner.empty() ? std::string()
                         : html::section(word(texts, std::string("report.section.") + name), inner);
}

std::string page(const Subject& subject, const TextCatalogue& texts) {
    const std::string& name = subject.record.name.empty() ? subject.record.id : subject.record.name;
    const std::string mode = subject.record.modes.empty() ? "" : to_string(subject.record.modes.front());
    const std::string title = subject.comparison
                                  ? word(texts, "report.title.comparison", {{"name", name}})
                                  : word(texts, "report.title.run", {{"name", name}, {"mode", mode}});
    std::string plan = subject.record.plan_json;
    if (plan.empty() && !subject.evidence.runs.empty()) plan = subject.evidence.runs.front().plan_json;
    std::string body = header_html(subject, title, texts);
    if (subject.comparison) body += named_section(texts, "decision", decision_html(subject.record, texts));
    body += named_section(texts, "verdicts", verdicts_html(subject.record.verdicts, texts));
    body += named_section(texts, "incidents", incidents_html(subject.evidence, texts));
    body += named_section(texts, "runs", runs_html(subject.evidence, texts));
    body += named_section(texts, "precision", precision_html(subject.evidence, texts));
    body += named_section(texts, "numerics", numerics_html(subject.evidence, texts));
    body += named_section(texts, "charts", charts_html(subject.evidence, texts));
    body += named_section(texts, "fairness", fairness_html(subject.record, subject.evidence, texts));
    body += named_section(texts, "trial", trials_html(subject.evidence, texts));
    body += named_section(texts, "environment", environment_html(subject.evidence, texts));
    body += named_section(texts, "settings", settings_html(plan, texts));
    body += named_section(texts, "steps", steps_html(subject.evidence, texts));
    body += html::element(
        "footer", html::text_element("p", word(texts, "report.made_by", {{"version", version}}), "quiet"));
    const std::string language = texts.language() == "zh" ? "zh-Hans" : "en";
    return "<!DOCTYPE html>\n<html lang=\"" + language +
           "\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n" +
           html::text_element("title", title + " – Mantissa") + "\n<style>\n" + report_style() +
           "</style>\n</head>\n<body>\n<main>\n" + body + "</main>\n</body>\n</html>\n";
}

}  // namespace

Result<std::filesystem::path> write_html_report(const std::filesystem::path& folder,
                                                std::string_view language,
                                                const std::filesystem::path& output) {
    const auto texts = text_catalogue(language);
    if (!texts) return texts.error();
    std::error_code problem;
    const bool comparison = std::filesystem::exists(folder / "comparison.json", problem);
    auto subject =
        comparison ? read_comparison_subject(folder, language) : read_run_subject(folder, language);
    if (!subject) return subject.error();
    auto target = std::filesystem::absolute(output.empty() ? folder / "report.html" : output, problem);
    if (problem)
        return Error{
            ErrorCode::InputOutput, "no absolute path for " + output.string() + ": " + problem.message(), {}};
    if (auto written = write_file_atomically(target, page(*subject, **texts)); !written)
        return written.error();
    return target;
}

}  // namespace mantissa
