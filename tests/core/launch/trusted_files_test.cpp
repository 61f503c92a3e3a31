// A TorchScript file is trusted by its content, not by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/work_folder.h"
#include "launch/trusted_files.h"

namespace mantissa {
namespace {

TEST(TrustedFiles, AContentIsTrustedOnceUnderAnyNameAndAnotherIsNot) {
    const WorkFolder folder = WorkFolder::make("trust").value();
    ::setenv("MANTISSA_RUNS_DIR", (folder.path() / "runs").c_str(), 1);
    const auto file = folder.path() / "net.pt";
    std::ofstream(file) << "one";
    RunPlan plan;
    EXPECT_TRUE(require_trusted_model(plan)) << "a model of the catalogue";
    plan.model.file = file.string();
    const auto refused = require_trusted_model(plan);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::BadPlan);
    EXPECT_THAT(refused.error().hint, testing::HasSubstr("--trust"));
    ASSERT_TRUE(trust_file(file));
    ASSERT_TRUE(trust_file(file)) << "twice is once";
    EXPECT_TRUE(require_trusted_model(plan));
    std::filesystem::copy_file(file, folder.path() / "other.pt");
    plan.model.file = (folder.path() / "other.pt").string();
    EXPECT_TRUE(require_trusted_model(plan));
    std::ofstream(file) << "two";
    plan.model.file = file.string();
    EXPECT_FALSE(require_trusted_model(plan));
    plan.model.file = (folder.path() / "gone.pt").string();
    EXPECT_EQ(require_trusted_model(plan).error().code, ErrorCode::InputOutput);
    EXPECT_EQ(trust_file(plan.model.file).error().code, ErrorCode::InputOutput);
}

}  // namespace
}  // namespace mantissa
