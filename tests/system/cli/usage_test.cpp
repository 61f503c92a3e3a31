#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;

TEST(CliUsage, HelpNamesEveryVerb) {
    const Home home;
    const auto help = home.run({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    for (const char* verb : {"train", "compare", "probe", "env", "config", "test", "estimate-memory",
                             "replay", "runs", "launch", "report", "export", "models", "datasets", "lessons", "lesson"})
        EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + verb + " "));
    for (const char* hidden : {"worker", "supervise", "trial ", "replay-step"})
        EXPECT_THAT(help.out, testing::Not(HasSubstr(std::string("  ") + hidden)));
    const auto version = home.run({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_THAT(version.out, testing::StartsWith("mantissa "));
}

TEST(CliUsage, UnbuiltVerbsAreRefused) {
    const Home home;
    EXPECT_EQ(home.run({"runs", "delete", "x"}).code, 2);
}

TEST(CliUsage, SlipsGetASentence) {
    const Home home;
    const auto verb = home.run({"comprae", "digits-mlp"});
    EXPECT_EQ(verb.code, 2);
    EXPECT_EQ(verb.err, "mantissa: there is no verb \"comprae\"\n          did you mean compare?\n");
    const auto inner = home.run({"runs", "lst"});
    EXPECT_EQ(inner.code, 2);
    EXPECT_EQ(inner.err, "mantissa: there is no verb \"runs lst\"\n          did you mean list?\n");
    const auto empty = home.run({"runs", "show", ""});
    EXPECT_EQ(empty.code, 2);
    EXPECT_THAT(empty.err, HasSubstr("RUN is empty"));
    EXPECT_EQ(home.run({}).code, 2);
    EXPECT_EQ(home.run({"train"}).code, 2);
    const auto option = home.run({"train", "digits-mlp", "--mixed-percision", "no"});
    EXPECT_EQ(option.code, 2);
    EXPECT_THAT(option.err, HasSubstr("--mixed-percision"));
    EXPECT_THAT(option.err, HasSubstr("mantissa train --help"));
    const auto nothing = home.run({"runs", "show", "last"});
    EXPECT_EQ(nothing.code, 6);
    EXPECT_THAT(nothing.err, HasSubstr("there is no run in "));
    EXPECT_EQ(home.run({"report", "no-such-run"}).code, 6);
    EXPECT_EQ(home.run({"export", "no-such-run"}).code, 6);
}

TEST(CliUsage, ALanguageWithoutTextsIsRefused) {
    const Home home;
    for (const auto& verb : std::vector<std::vector<std::string>>{{"train", "digits-mlp"},
                                                                  {"compare", "digits-mlp"},
                                                                  {"runs", "show", "last"},
                                                                  {"report", "last"}}) {
        auto arguments = verb;
        arguments.insert(arguments.end(), {"--lang", "fr"});
        const auto refused = home.run(arguments);
        EXPECT_EQ(refused.code, 2) << verb.front();
        EXPECT_THAT(refused.err, HasSubstr("--lang: there are no texts in \"fr\"; use en, zh"))
            << verb.front();
    }
    EXPECT_TRUE(home.run_folders().empty());
    EXPECT_EQ(home.run({"report", "last", "--lang", "zh_CN.UTF-8"}).code, 6);  // there is only no run
}

TEST(CliUsage, ListsAreJson) {
    const Home home;
    const auto models = home.run({"models", "--json"});
    EXPECT_EQ(models.code, 0);
    ASSERT_TRUE(models.json().is_object());
    EXPECT_EQ(models.json()["models"].size(), 6u);
    const auto datasets = home.run({"datasets", "--json"}).json();
    ASSERT_TRUE(datasets.is_object());
    EXPECT_EQ(datasets["datasets"][0]["samples"], 1797);
    const auto fields = home.run({"models", "--fields", "--json"}).json();
    ASSERT_TRUE(fields.is_object());
    EXPECT_EQ(fields["fields"][0]["path"], "name");
    const auto runs = home.run({"runs", "list", "--json"});
    EXPECT_EQ(runs.code, 0);
    EXPECT_TRUE(runs.json()["runs"].empty());
    EXPECT_THAT(home.run({"models"}).out, HasSubstr("gate.down"));
    EXPECT_THAT(home.run({"datasets"}).out, HasSubstr("CC BY 4.0"));
}

}  // namespace
}  // namespace mantissa::system_test
