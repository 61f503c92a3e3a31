// The page that plays a lesson, in a real browser where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string content(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// The page as the browser has it after `script`; empty without a browser.
std::string played(const Home& home, const std::string& page, const std::string& script) {
    const char* browser = "/usr/bin/chromium";
    if (!std::filesystem::exists(browser)) return {};
    const auto file = home.write("driven.html", page + "<script>" + script + "</script>");
    Home shell;
    shell.program = browser;
    const auto outcome = shell.run({"--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + (shell.path() / "profile").string(),
                                    "--virtual-time-budget=2000", "--dump-dom", "file://" + file.string()},
                                   std::chrono::seconds(100));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
}

TEST(CliPlayer, LocksThePredictionAndPlaysToTheEnd) {
    const Home home;
    const auto taken = home.run({"lesson", "8", "--answer", "2", "--json", "-q"});
    ASSERT_EQ(taken.code, 0) << taken.out << taken.err;
    const std::string folder = taken.json()["folder"];
    EXPECT_EQ(home.run({"report", folder}).code, 2) << "a lesson has no report of its own";
    const auto written = home.run({"report", folder, "--player", "--lang", "en"});
    ASSERT_EQ(written.code, 0) << written.err;
    const std::string page = content(folder + "/player.html");
    EXPECT_THAT(page, Not(HasSubstr("http"))) << "no link leads outside";
    EXPECT_THAT(page, HasSubstr("\"NaN\"")) << "values that aren't finite are in it";
    const std::string before = played(home, page, "");
    if (before.empty()) GTEST_SKIP() << "no chromium here";
    EXPECT_THAT(before, HasSubstr("data-ready=\"yes\""));
    EXPECT_THAT(before, HasSubstr("<button id=\"play\" type=\"button\" disabled"));
    EXPECT_THAT(before, HasSubstr("<section id=\"outcome\" hidden"));
    const std::string after = played(home, page, R"(
        const by = (id) => document.getElementById(id);
        document.querySelector("input[value=nobody]").click();
        by("step").click();
        document.body.dataset.locked = String([...document.querySelectorAll("input[name=answer]")].every((one) => one.disabled));
        by("group").value = "1"; by("group").dispatchEvent(new Event("change"));
        by("position").value = by("position").max; by("position").dispatchEvent(new Event("input"));)");
    EXPECT_THAT(after, HasSubstr("data-locked=\"true\""));
    EXPECT_THAT(after, HasSubstr("Your prediction: Nobody"));
    EXPECT_THAT(after, HasSubstr("<section id=\"outcome\"><h2>"));
    EXPECT_THAT(after, HasSubstr("<b id=\"verdict\">The answer is another:</b> All three, fp16 first"));
    EXPECT_THAT(after, HasSubstr("step 399 · no 0.0"));
}

TEST(CliPlayer, AComparisonPlaysToo) {
    const Home home;
    const auto compared = home.run({"compare", "digits-mlp", "--cpu", "--modes", "no,bf16", "--max-steps", "20", "--json", "-q"});
    ASSERT_EQ(compared.code, 0) << compared.err;
    const auto written = home.run({"report", "last", "--player", "--lang", "zh", "-o", (home.path() / "play.html").string()});
    ASSERT_EQ(written.code, 0) << written.err;
    const std::string page = content(home.path() / "play.html");
    EXPECT_THAT(page, HasSubstr("\"lesson\":null"));
    EXPECT_THAT(page, Not(HasSubstr("name=\"answer\" value")));
    const std::string shown = played(home, page, "");
    if (shown.empty()) GTEST_SKIP() << "no chromium here";
    EXPECT_THAT(shown, HasSubstr("步 19 · no "));
}

}  // namespace
}  // namespace mantissa::system_test
