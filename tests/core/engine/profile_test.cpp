// F48: a trace of operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "engine/accelerator.h"
#include "engine/profile_scope.h"
#include "small_model.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using nlohmann::json;

const json* find(const json& trace, const std::string& name, const char* category) {
    const auto& events = trace["traceEvents"];
    const auto found = std::find_if(events.begin(), events.end(),
                                    [&](const json& one) { return one["name"] == name && one["cat"] == category; });
    return found == events.end() ? nullptr : &*found;
}

TEST(Profile, operations_have_dtypes_shapes_and_times) {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "traces" / "step.json";
    Accelerator accelerator({.mixed_precision = Precision::Bf16});
    auto model = accelerator.prepare(torch::nn::Linear(3, 2));
    static_cast<void>(model(torch::ones({4, 3})));  // not watched
    std::int64_t counted = 0;
    {
        const auto profile = accelerator.profile(file);
        accelerator.backward(model(torch::ones({4, 3})).sum());
        counted = profile->events();
    }
    const auto text = read_file(file);
    ASSERT_TRUE(text) << describe(text.error());
    const json trace = json::parse(*text);
    EXPECT_EQ(static_cast<std::int64_t>(trace["traceEvents"].size()), counted);
    const json* product = find(trace, "aten::addmm", "op");
    ASSERT_NE(product, nullptr);
    EXPECT_EQ((*product)["args"]["output_types"], json::array({"BFloat16"}));
    EXPECT_EQ((*product)["args"]["output_shapes"], json::array({{4, 2}}));
    EXPECT_EQ((*product)["args"]["input_shapes"][1], json::array({4, 3}));
    // Nested: a cast's copy lies within the cast, on the same thread.
    const json *cast = find(trace, "aten::_to_copy", "op"), *copy = find(trace, "aten::copy_", "op");
    ASSERT_TRUE(cast != nullptr && copy != nullptr);
    EXPECT_EQ((*cast)["tid"], (*copy)["tid"]);
    const auto start = [](const json& one) { return one["ts"].get<double>(); };
    const auto end = [&start](const json& one) { return start(one) + one["dur"].get<double>(); };
    EXPECT_LE(start(*cast), start(*copy));
    EXPECT_GE(end(*cast), end(*copy));
    EXPECT_NE(find(trace, "AddmmBackward0", "backward"), nullptr);
}

TEST(Profile, it_ends_counts_what_it_leaves_out_and_is_alone) {
    const testing::TemporaryFolder folder;
    Accelerator accelerator;
    {
        ProfileScope profile(folder.path() / "few.json", {.with_shapes = false, .max_events = 2});
        EXPECT_THROW(ProfileScope(folder.path() / "second.json"), EngineError);
        for (int i = 0; i < 5; ++i) static_cast<void>(torch::ones(2).exp());
        profile.finish();
        static_cast<void>(torch::ones(2).exp());  // after the end
        EXPECT_EQ(profile.events(), 2);
    }
    const json trace = json::parse(*read_file(folder.path() / "few.json"));
    EXPECT_EQ(trace["traceEvents"].size(), 2U);
    EXPECT_GE(trace["otherData"]["left_out"].get<int>(), 3);
    ProfileScope nowhere("/proc/no/such/folder.json");
    EXPECT_THROW(nowhere.finish(), EngineError);
    nowhere.finish();  // said once
}

}  // namespace
}  // namespace mantissa
