#include "judge/report_charts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "judge/html_text.h"
#include "judge/report_words.h"

namespace mantissa {
namespace {

double steps_end(const ComparisonEvidence& evidence) {
    std::int64_t end = 0;
    for (const RunEvidence& run : evidence.runs) {
        const auto& steps = run.rows.steps;
        end = std::max({end, run.summary.planned_steps, steps.empty() ? 0 : steps.back().step + 1});
    }
    return static_cast<double>(end);
}

Chart empty_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts, const std::string& title) {
    Chart chart;
    chart.title = title;
    chart.x_label = word(texts, "report.chart.step");
    chart.x_end = steps_end(evidence);
    return chart;
}

ChartLine empty_line(const RunEvidence& run) {
    const std::string mode = to_string(run.summary.mode);
    return {mode, mode, {}, {}, false, false};
}

/// One line a run with the value that `read` gives for a row, where it gives one.
template <typename Read>
void add_lines(const ComparisonEvidence& evidence, Chart& chart, Read read) {
    for (const RunEvidence& run : evidence.runs) {
        ChartLine line = empty_line(run);
        for (const StepRow& row : run.rows.steps) {
            const std::optional<double> value = read(row);
            if (!value) continue;
            line.x.push_back(static_cast<double>(row.step));
            line.y.push_back(*value);
        }
        if (!line.x.empty()) chart.lines.push_back(std::move(line));
    }
}

/// Between the lowest and the highest of the repetitions at each step that two of them have at least.
void add_repetitions(const ComparisonEvidence& evidence, const TextCatalogue& texts, Chart& chart) {
    struct Spread {
        std::int64_t runs = 0;
        double low = HUGE_VAL, high = -HUGE_VAL;
    };
    std::map<std::int64_t, Spread> steps;
    for (const RunEvidence& run : evidence.repetitions) {
        for (const StepRow& row : run.rows.steps) {
            if (!std::isfinite(row.loss)) continue;
            Spread& one = steps[row.step];
            ++one.runs;
            one.low = std::min(one.low, row.loss);
            one.high = std::max(one.high, row.loss);
        }
    }
    const std::string mode = to_string(Precision::No);
    ChartBand band{word(texts, "report.chart.repetitions", {{"count", readable_count(std::ssize(evidence.repetitions))}}), mode, {}, {}, {}};
    for (const auto& [step, one] : steps) {
        if (one.runs < 2) continue;
        band.x.push_back(static_cast<double>(step));
        band.low.push_back(one.low);
        band.high.push_back(one.high);
    }
    if (!band.x.empty()) chart.bands.push_back(std::move(band));
}

LedgerKind kind_of(const StepRow& row) {
    if (row.nonfinite_loss || !std::isfinite(row.loss)) return LedgerKind::Nonfinite;
    if (!row.skipped) return LedgerKind::Applied;
    return row.skip_kind == SkipKind::Fault ? LedgerKind::Fault : LedgerKind::Probing;
}

std::string nonfinite_name(double value) {
    return std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

bool worth_log(const Chart& chart) {
    double low = HUGE_VAL, high = 0;
    for (const ChartLine& line : chart.lines) {
        for (const double value : line.y) {
            if (!std::isfinite(value) || value <= 0) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    return high > 10 * low;
}

std::string chart_html(const Chart& chart, const TextCatalogue& texts) {
    const DrawnChart drawn = draw_chart(chart);
    std::string note = chart.log_y ? word(texts, "report.chart.log") : std::string();
    const auto add = [&](const std::string& text) { note += (note.empty() ? "" : " · ") + text; };
    if (!chart.marks.empty())
        add(word(texts, "report.chart.marks",
                 {{"count", readable_count(static_cast<std::int64_t>(chart.marks.size()))}}));
    if (drawn.not_drawn > 0)
        add(word(texts, "report.chart.not_drawn", {{"count", readable_count(drawn.not_drawn)}}));
    if (drawn.decimated) add(word(texts, "report.chart.decimated"));
    return html::element("figure",
                         html::element("figcaption", html::text_element("b", chart.title) + " " +
                                                         html::text_element("span", note, "quiet")) +
                             drawn.svg);
}

std::string ledger_legend(const TextCatalogue& texts) {
    std::string legend;
    for (const char* kind : {"applied", "probing", "fault", "nonfinite"}) {
        legend += "<span class=\"key fp16 " + std::string(kind) + "\"></span>" +
                  html::text_element("span", word(texts, std::string("report.chart.") + kind), "quiet") + " ";
    }
    return html::element("p", legend, "legend");
}

}  // namespace

std::vector<LedgerSpan> ledger_spans(const std::vector<StepRow>& steps) {
    std::vector<LedgerSpan> spans;
    for (const StepRow& row : steps) {
        const auto step = static_cast<double>(row.step);
        const LedgerKind kind = kind_of(row);
        if (!spans.empty() && spans.back().kind == kind && spans.back().to + 1 == step)
            spans.back().to = step;
        else
            spans.push_back({step, step, kind});
    }
    // Broad applied spans first, so that a single bad step is drawn over its neighbours.
    std::stable_partition(spans.begin(), spans.end(),
                          [](const LedgerSpan& span) { return span.kind == LedgerKind::Applied; });
    return spans;
}

Chart loss_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    Chart chart = empty_chart(evidence, texts, word(texts, "report.chart.loss"));
    chart.height = 320;
    add_lines(evidence, chart, [](const StepRow& row) { return std::optional(row.loss); });
    chart.log_y = worth_log(chart);
    add_repetitions(evidence, texts, chart);
    for (const RunEvidence& run : evidence.runs) {
        const std::string mode = to_string(run.summary.mode);
        LedgerLine ledger{mode, mode, {}, ledger_spans(run.rows.steps)};
        if (run.summary.skipped_probing + run.summary.skipped_fault > 0) {
            ledger.note = word(texts, "report.chart.skips",
                               {{"probing", readable_count(run.summary.skipped_probing)},
                                {"faults", readable_count(run.summary.skipped_fault)}});
        }
        chart.ledger.push_back(std::move(ledger));
        for (const StepRow& row : run.rows.steps) {
            if (kind_of(row) != LedgerKind::Nonfinite) continue;
            chart.marks.push_back(
                {static_cast<double>(row.step), word(texts, "report.chart.first_mark",
                                                     {{"step", readable_count(row.step)},
                                                      {"mode", mode},
                                                      {"value", nonfinite_name(row.loss)}})});
        }
    }
    return chart;
}

Chart validation_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::string metric;
    for (const RunEvidence& run : evidence.runs) {
        if (metric.empty()) metric = run.summary.metric_name;
    }
    Chart chart = empty_chart(evidence, texts, word(texts, "report.chart.validation", {{"metric", metric}}));
    chart.height = 150;
    chart.format = metric == "accuracy" ? AxisFormat::Percent : AxisFormat::Number;
    for (const RunEvidence& run : evidence.runs) {
        ChartLine line = empty_line(run);
        line.dots = true;
        const auto& rows = run.rows.evaluations;
        const bool fp32 = std::any_of(rows.begin(), rows.end(),
                                      [](const EvaluationRow& row) { return row.precision == "fp32"; });
        for (const EvaluationRow& row : rows) {
            if (row.split != "validation" || row.metric != metric || (fp32 && row.precision != "fp32"))
                continue;
            line.x.push_back(static_cast<double>(row.step));
            line.y.push_back(row.value);
        }
        if (!line.x.empty()) chart.lines.push_back(std::move(line));
    }
    return chart;
}

Chart scale_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    Chart chart = empty_chart(evidence, texts, word(texts, "report.chart.scale"));
    chart.height = 130;
    chart.format = AxisFormat::Scale;
    add_lines(evidence, chart, [](const StepRow& row) -> std::optional<double> {
        if (!row.loss_scale || *row.loss_scale <= 0) return {};
        return std::log2(*row.loss_scale);
    });
    for (ChartLine& line : chart.lines) line.stairs = true;
    return chart;
}

Chart memory_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    Chart chart = empty_chart(evidence, texts, word(texts, "report.chart.memory"));
    chart.height = 150;
    chart.format = AxisFormat::Bytes;
    add_lines(evidence, chart, [](const StepRow& row) -> std::optional<double> {
        if (row.memory_peak_bytes <= 0) return {};
        return static_cast<double>(row.memory_peak_bytes);
    });
    return chart;
}

std::string charts_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    const Chart loss = loss_chart(evidence, texts);
    if (loss.lines.empty()) return {};
    std::string html = chart_html(loss, texts) + ledger_legend(texts);
    for (const Chart& chart :
         {validation_chart(evidence, texts), scale_chart(evidence, texts), memory_chart(evidence, texts)}) {
        if (!chart.lines.empty()) html += chart_html(chart, texts);
    }
    return html;
}

}  // namespace mantissa
