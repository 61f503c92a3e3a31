#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evidence_maker.h"
#include "judge/chart_axis.h"
#include "judge/report_charts.h"
#include "judge/svg_chart.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

Chart one_line(std::vector<double> y) {
    Chart chart;
    chart.title = "Loss <&>";
    ChartLine line{"fp16", "fp16", {}, std::move(y), false, false};
    for (std::size_t i = 0; i < line.y.size(); ++i) line.x.push_back(static_cast<double>(i));
    chart.lines.push_back(line);
    return chart;
}

TEST(SvgChart, ALineBreaksAtNonFiniteValues) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto drawn = draw_chart(one_line({1, 2, nan, 2, 1}));
    EXPECT_EQ(count(drawn.svg, "M"), 2u);
    EXPECT_THAT(drawn.svg, Not(HasSubstr("nan")));
    EXPECT_THAT(drawn.svg, Not(HasSubstr("inf")));
    EXPECT_THAT(drawn.svg, HasSubstr("Loss &lt;&amp;&gt;"));
}

TEST(SvgChart, AFiniteValueBetweenTwoThatAreNotIsADot) {
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(count(draw_chart(one_line({inf, 2, inf})).svg, "<circle"), 1u);
    EXPECT_EQ(count(draw_chart(one_line({1, 2, 3})).svg, "<circle"), 0u);
}

TEST(SvgChart, ValuesALogAxisCannotShowAreCounted) {
    Chart chart = one_line({1, 0, -1, 10});
    EXPECT_EQ(draw_chart(chart).not_drawn, 0);
    chart.log_y = true;
    EXPECT_EQ(draw_chart(chart).not_drawn, 2);
}

TEST(SvgChart, MarksAreNeverLostWhenTheyShareAPixel) {
    Chart chart = one_line(std::vector<double>(100'000, 1.0));
    for (int i = 50'000; i < 50'100; ++i)
        chart.marks.push_back({static_cast<double>(i), "step " + std::to_string(i)});
    const auto drawn = draw_chart(chart);
    EXPECT_TRUE(drawn.decimated);
    EXPECT_THAT(drawn.svg, HasSubstr("step 50000"));
    EXPECT_THAT(drawn.svg, HasSubstr("(+"));
    EXPECT_LT(drawn.svg.size(), 200'000u);
}

TEST(SvgChart, OddInputIsDrawnAndNeverCrashes) {
    const double huge = std::numeric_limits<double>::max();
    for (const bool log : {false, true}) {
        for (const auto& y : {std::vector<double>{},
                              {0.0},
                              {huge, -huge},
                              {1e-308, huge},
                              {5.0, 5.0},
                              {1e15, std::nextafter(1e15, 2e15)}}) {
            Chart chart = one_line(y);
            chart.log_y = log;
            EXPECT_THAT(draw_chart(chart).svg, HasSubstr("</svg>"));
        }
    }
}

TEST(ChartAxis, TicksAreRoundAndFew) {
    const Axis linear{0, 300, false, 0, 100};
    EXPECT_THAT(linear.ticks(), ::testing::ElementsAre(0, 50, 100, 150, 200, 250, 300));
    const Axis log{0.005, 3, true, 0, 100};
    EXPECT_THAT(log.ticks(),
                ::testing::ElementsAre(::testing::DoubleEq(0.01), ::testing::DoubleEq(0.1), 1.0));
    EXPECT_NEAR(log.pixel(0.005), 0, 1e-9);
    EXPECT_NEAR(log.pixel(3), 100, 1e-9);
}

TEST(Ledger, SpansCoverEveryStepOnce) {
    RunEvidence run = healthy_run(Precision::Fp16, 50);
    skip(run, 0, SkipKind::Probing);
    skip(run, 1, SkipKind::Probing);
    skip(run, 20, SkipKind::Fault);
    stop_at(run, 40);
    const auto spans = ledger_spans(run.rows.steps);
    double covered = 0;
    std::size_t bad = 0;
    for (const LedgerSpan& span : spans) {
        covered += span.to - span.from + 1;
        bad += span.kind != LedgerKind::Applied;
    }
    EXPECT_EQ(covered, 41);
    EXPECT_EQ(bad, 3u);
    EXPECT_EQ(spans.front().kind, LedgerKind::Applied);
    EXPECT_EQ(spans.back().kind, LedgerKind::Nonfinite);
}

TEST(LossChart, EveryNonFiniteStepOfEveryRunHasAMark) {
    ComparisonEvidence evidence = healthy_comparison();
    for (std::int64_t step = 30; step < 60; ++step) {
        evidence.runs[1].rows.steps[step].loss = std::numeric_limits<double>::infinity();
        evidence.runs[1].rows.steps[step].nonfinite_loss = true;
    }
    stop_at(evidence.runs[2], 70);
    const Chart chart = loss_chart(evidence, texts());
    EXPECT_EQ(chart.marks.size(), 31u);
    EXPECT_EQ(chart.marks.front().label, "step 30 · fp16 · +Inf");
    EXPECT_EQ(chart.lines.size(), 3u);
    EXPECT_TRUE(chart.log_y);
}

TEST(LossChart, RepetitionsAreABandFromTheLowestToTheHighestOfThem) {
    ComparisonEvidence evidence = healthy_comparison();
    EXPECT_TRUE(loss_chart(evidence, texts()).bands.empty());
    const auto steps = evidence.runs[0].rows.steps.size();
    for (const double factor : {0.8, 1.0, 1.5}) {
        evidence.repetitions.push_back(evidence.runs[0]);
        for (StepRow& row : evidence.repetitions.back().rows.steps) row.loss *= factor;
    }
    evidence.repetitions[2].rows.steps[20].loss = std::numeric_limits<double>::quiet_NaN();
    evidence.repetitions[1].rows.steps.resize(40);
    evidence.repetitions[2].rows.steps.resize(50);
    const Chart chart = loss_chart(evidence, texts());
    ASSERT_EQ(chart.bands.size(), 1u);
    const ChartBand& band = chart.bands[0];
    EXPECT_EQ(band.name, "3 repetitions of no, lowest to highest");
    EXPECT_EQ(band.x.size(), 50u);  // from there on one alone
    const auto loss = [&](std::size_t step) { return evidence.runs[0].rows.steps[step].loss; };
    EXPECT_EQ(band.low[10], 0.8 * loss(10));
    EXPECT_EQ(band.high[10], 1.5 * loss(10));
    EXPECT_EQ(band.high[20], loss(20));  // the NaN is left out
    EXPECT_EQ(band.low[45], 0.8 * loss(45));
    EXPECT_EQ(band.high[45], 1.5 * loss(45));
    EXPECT_GT(steps, 50u);
    const std::string svg = draw_chart(chart).svg;
    EXPECT_THAT(svg, HasSubstr("<path class=\"band no\""));
    EXPECT_LT(svg.find("path class=\"band no\""), svg.find("path class=\"line no\""));  // behind it
}

TEST(SvgChart, ABandIsSplitAndFitsItsAxis) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Chart chart = one_line({1, 2, 2, 2, 2});
    chart.bands.push_back({"three", "no", {0, 1, 2, 3, 4}, {0.5, 1, nan, 1, 1}, {1, 8, nan, 3, 3}});
    EXPECT_EQ(count(draw_chart(chart).svg, "<path class=\"band no\""), 2u);
    EXPECT_GE(value_axis(chart).end, 8);
    chart.log_y = true;
    chart.bands[0].low[0] = 0;  // no place on this axis: what is left there is a lone point
    EXPECT_EQ(count(draw_chart(chart).svg, "<path class=\"band no\""), 1u);
    EXPECT_LE(value_axis(chart).begin, 1);
}

}  // namespace
}  // namespace mantissa
