#include <gtest/gtest.h>

#include "base/files.h"
#include "folder_maker.h"
#include "judge/html_report.h"
#include "judge/html_text.h"
#include "judge/replay_command.h"
#include "judge/report_sections.h"
#include "replay_maker.h"

namespace mantissa {
namespace {

using namespace test;

/// A page in a failure message helps nobody.
bool holds(const std::string& page, std::string_view part) {
    return page.find(part) != std::string::npos;
}

std::string report_of(const std::filesystem::path& folder, const std::string& language = "en") {
    const auto path = write_html_report(folder, language);
    EXPECT_TRUE(path.ok()) << path.error().message;
    EXPECT_TRUE(path->is_absolute());
    return *read_file(*path);
}

TEST(HtmlText, EverythingFromARecordingIsEscaped) {
    EXPECT_EQ(html::escaped("<script>\"a\" & 'b'</script>"),
              "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
    EXPECT_EQ(html::escaped(std::string("a\0b\x1b", 4)),
              "a\xEF\xBF\xBD"
              "b\xEF\xBF\xBD");
    EXPECT_EQ(html::table({"<h>"}, {{{"<c>", "n\"x"}}}),
              "<div class=\"scroll\"><table><thead><tr><th "
              "scope=\"col\">&lt;h&gt;</th></tr></thead><tbody><tr><td class=\"n&quot;x\">"
              "&lt;c&gt;</td></tr></tbody></table></div>\n");
}

TEST(HtmlReport, HoldsEverySectionAndStandsAlone) {
    const TemporaryFolder runs;
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.support = Support::Emulated;
    skip(evidence.runs[1], 66, SkipKind::Probing);
    stop_at(evidence.runs[1], 144);
    evidence.runs[1].rows.incidents.push_back(overflow_incident(144));
    const std::string html = report_of(write_comparison_folder(runs.path(), evidence));
    for (const char* part :
         {"Decision", "Would change it", "activation_overflow", "gate.mul", "step 144 · fp16 · NaN",
          "1 probing, 1 by faults", "prefers-color-scheme: dark", "#D55E00", "#0072B2", "#009E73", "#CC79A7",
          "Fair: same initial weights", "training.optimizer.learning_rate", "flag --set",
          "0.001 (preset gated-overflow)", "emulated"}) {
        EXPECT_TRUE(holds(html, part)) << part;
    }
    for (const char* part : {"<script", "http://", "https://", "src=", "@import", "url("})
        EXPECT_FALSE(holds(html, part)) << part;
}

TEST(HtmlReport, RawStepsAreThereToTheLastDigit) {
    const TemporaryFolder runs;
    RunEvidence run = healthy_run(Precision::No, 5);
    run.rows.steps[3].loss = 0.1234567890123456;
    run.rows.steps[4].loss = std::numeric_limits<double>::quiet_NaN();
    const std::string html = report_of(write_run(runs.path(), run));
    EXPECT_TRUE(holds(html, "0.1234567890123456"));
    EXPECT_TRUE(holds(html, ",nan,"));
}

TEST(HtmlReport, NamesThatAreMarkupStayText) {
    const TemporaryFolder runs;
    ComparisonEvidence evidence = healthy_comparison(60);
    evidence.runs[0].summary.model = "<img onerror=x>";
    evidence.runs[1].rows.incidents.push_back(overflow_incident(20));
    evidence.runs[1].rows.incidents[0].module = "<b>gate</b>";
    const std::string html = report_of(write_comparison_folder(runs.path(), evidence, "<i>name</i>"));
    EXPECT_FALSE(holds(html, "<img"));
    EXPECT_FALSE(holds(html, "<b>gate"));
    EXPECT_FALSE(holds(html, "<i>name"));
    EXPECT_TRUE(holds(html, "&lt;i&gt;name&lt;/i&gt;"));
    EXPECT_TRUE(holds(html, "&lt;b&gt;gate&lt;/b&gt;.mul"));
}

TEST(HtmlReport, SpeaksChineseAndHasNoHole) {
    const TemporaryFolder runs;
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[1], 144);
    const auto folder = write_comparison_folder(runs.path(), evidence);
    for (const std::string& language : text_languages()) {
        const std::string html = report_of(folder, language);
        EXPECT_FALSE(holds(html, "report."));  // a key in place of a text
    }
    EXPECT_TRUE(holds(report_of(folder, "zh"), "lang=\"zh-Hans\""));
    EXPECT_TRUE(holds(report_of(folder, "zh"), "公平性"));
}

TEST(HtmlReport, ARunWithoutStepsHasAReportToo) {
    const TemporaryFolder runs;
    RunEvidence run = healthy_run(Precision::Bf16, 0);
    run.summary.state = RunState::Failed;
    run.summary.state_reason = "refused";
    run.environment_json = "";
    EXPECT_TRUE(holds(report_of(write_run(runs.path(), run)), "No environment was recorded."));
}

TEST(HtmlReport, ABadStepPointsToItsReplayAndShowsWhatItFound) {
    const TemporaryFolder runs;
    RunEvidence evidence = healthy_run(Precision::Fp16, 150);
    stop_at(evidence, 144);
    const auto run = write_run(runs.path(), evidence);
    IncidentReport incident;
    incident.step = 144;
    incident.mode = Precision::Fp16;
    incident.kind = "activation_overflow";
    incident.severity = "error";
    incident.birth = gated_replay().birth;
    ASSERT_TRUE(write_incident(incident_folder(run, 144), incident));
    const std::string command = "mantissa replay " + run.string() + " --step 144</code>";
    const std::string before = report_of(run);
    EXPECT_TRUE(holds(before, "At step 144 of fp16 the first bad value was born in gate.mul."));
    EXPECT_TRUE(holds(before, command));
    EXPECT_FALSE(holds(before, "A replay of this step has found"));

    ReplayReport replay = gated_replay();
    ASSERT_TRUE(give_verdict(replay, {}, "zh"));
    replay.state = "done";
    ASSERT_TRUE(write_replay(incident_folder(run, 144), replay));
    const std::string after = report_of(run);
    EXPECT_TRUE(holds(after, "A replay of this step has found"));
    EXPECT_TRUE(holds(after, "Keep gate.mul in fp32 (held for 20 steps here) or train in bf16")) << "in the language of the report";
    EXPECT_TRUE(holds(after, "with gate.mul in fp32: finite, and for 20 steps more"));
    EXPECT_TRUE(holds(after, command));
    EXPECT_TRUE(holds(report_of(run, "zh"), "重做这一步的结论"));
}

TEST(ReplayCommand, IsOneThatAShellTakes) {
    const TemporaryFolder runs;
    ASSERT_EQ(setenv("MANTISSA_RUNS_DIR", runs.path().c_str(), 1), 0);
    EXPECT_EQ(replay_command(runs.path() / "20261201-gated-fp16", 7), "mantissa replay 20261201-gated-fp16 --step 7");
    EXPECT_EQ(replay_command("/data/it's mine/run", 7), "mantissa replay '/data/it'\\''s mine/run' --step 7");
    unsetenv("MANTISSA_RUNS_DIR");
}

TEST(HtmlReport, AnUnwritablePlaceIsAnError) {
    const TemporaryFolder runs;
    const auto folder = write_run(runs.path(), healthy_run(Precision::No, 3));
    EXPECT_FALSE(write_html_report(folder, "en", "/proc/nowhere/report.html").ok());
    EXPECT_FALSE(write_html_report(runs.path() / "nothing", "en").ok());
}

}  // namespace
}  // namespace mantissa
