// core/examples/misuse.cpp and misuse_at_compile_time.cpp: what each mistake gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "program.h"

namespace mantissa::package_test {
namespace {

using ::testing::HasSubstr;

TEST(Misuse, EachMistakeGetsItsSentence) {
    const Said said = run(package / "examples" / "misuse", "");
    ASSERT_EQ(said.code, 0) << said.text;
    std::map<std::string, std::string> answers;
    for (const std::string& line : said.lines()) answers[line.substr(0, line.find(": "))] = line;
    const std::map<std::string, std::vector<std::string>> expected{
        {"raw model", {"an object that was moved away was given to prepare()"}},
        {"raw optimizer", {"this optimizer was moved into prepare()", "go on with the one that prepare() returned"}},
        {"half weights", {"the trainable weight weight is Half", "keep weights in fp32"}},
        {"second precision", {"this process trains in fp16, so an Accelerator in bf16 can't be made in it", "a fresh process"}},
        {"backward in autocast", {"backward was called inside autocast"}},
        {"step in autocast", {"the optimizer's step was called inside autocast"}},
        {"second scaler", {"scaled already"}},
        {"second backward", {"backward was called twice on the same loss"}},
        {"second step", {"the optimizer was stepped twice for one backward"}},
        {"unprepared loader", {"argument 1", "on meta", "a loader that was not prepared"}},
        {"tensor by hand", {"argument 2", "made by hand without accelerator.device()"}},
        {"moved model", {"moved after prepare()", "its weight is on meta"}}};
    EXPECT_EQ(answers.size(), expected.size()) << said.text;
    for (const auto& [mistake, parts] : expected) {
        for (const std::string& part : parts) EXPECT_THAT(answers[mistake], HasSubstr(part));
        EXPECT_THAT(answers[mistake], ::testing::Not(HasSubstr("PASSED")));
    }
}

TEST(Misuse, RawAndForeignObjectsDoNotCompile) {
    std::ifstream file(package / "compile_time.txt");
    const std::string output((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const char* sentence :
         {"pass them with std::move() and go on with what it returns", "prepare() was given a torch::optim optimizer: make it with mantissa::sgd",
          "prepare() was given a torch learning-rate scheduler", "prepare() was given a LossScaler: the Accelerator has its own",
          "prepare() was given a module by value"})
        EXPECT_THAT(output, HasSubstr(sentence));
}

}  // namespace
}  // namespace mantissa::package_test
