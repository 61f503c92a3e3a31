// A TorchScript file as the model of a run: the same steps as the catalogue's model of the same ops, to the bit, and what can't be trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/work_folder.h"
#include "engine/engine_error.h"
#include "models/model_registry.h"
#include "models/script_file_model.h"
#include "models/script_findings.h"
#include "run/run_parts.h"
#include "run/step_runner.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;
using torch::jit::Module;

/// A module with the named parameters, all registered at its top.
Module script_of(const std::vector<std::pair<std::string, torch::Tensor>>& parameters, const std::string& source) {
    Module module("net");
    for (const auto& [name, value] : parameters) module.register_parameter(name, value, false);
    module.define(source + "\n");
    return module;
}

class ScriptFile : public testing::Test {
  protected:
    std::string saved(const Module& module, const std::string& name = "net.pt") const {
        const std::string file = (m_folder.path() / name).string();
        module.save(file);
        return file;
    }
    Error refusal(const std::string& file) const {
        const auto model = load_script_model(file);
        EXPECT_FALSE(model) << file;
        return model ? Error{} : model.error();
    }
    std::filesystem::path folder() const { return m_folder.path(); }

  private:
    WorkFolder m_folder = WorkFolder::make("script").value();
};

RunPlan plan_of(Precision mode) {
    RunPlan plan;
    plan.mixed_precision = mode;
    plan.model.hidden = 16;
    plan.training.optimizer.learning_rate = 0.01;
    return plan;
}

struct Course {
    std::vector<double> losses;
    torch::Tensor first_weight;
    std::vector<std::string> names;
};

Course ten_steps(const RunPlan& plan) {
    const auto choice = choose_run_device(plan);
    const auto parts = build_run(plan, choice.value());
    if (!parts) throw EngineError(parts.error());
    StepRunner runner(**parts, plan.training, nullptr);
    Course course;
    for (int i = 0; i < 10; ++i) course.losses.push_back(runner.run().facts.loss);
    for (const auto& entry : (*parts)->model.unwrap()->named_parameters()) course.names.push_back(entry.key());
    course.first_weight = (*parts)->model.parameters().front().detach().clone();
    return course;
}

class ScriptFileModes : public ScriptFile, public testing::WithParamInterface<Precision> {};
INSTANTIATE_TEST_SUITE_P(Modes, ScriptFileModes, testing::Values(Precision::No, Precision::Fp16, Precision::Bf16),
                         [](const auto& one) { return to_string(one.param); });

TEST_P(ScriptFileModes, TenStepsAreThoseOfTheSameOpsToTheBit) {
    RunPlan plan = plan_of(GetParam());
    const auto ours = make_model(plan.model, 64, 10, static_cast<std::uint64_t>(plan.training.seed));
    ASSERT_TRUE(ours);
    std::vector<std::pair<std::string, torch::Tensor>> weights;
    for (const auto& entry : (*ours)->named_parameters()) {
        std::string name = entry.key();
        std::replace(name.begin(), name.end(), '.', '_');
        weights.emplace_back(name, entry.value().detach().clone());
    }
    Module net("net");
    for (const auto& [name, value] : weights) net.register_parameter(name, value.requires_grad_(), false);
    net.define(R"(
def forward(self, features):
    hidden = torch.relu(torch.linear(features, self.hidden_weight, self.hidden_bias))
    return torch.linear(hidden, self.head_weight, self.head_bias)
)");
    const Course expected = ten_steps(plan);
    plan.model.file = saved(net);
    const Course script = ten_steps(plan);
    EXPECT_EQ(script.losses, expected.losses);
    EXPECT_TRUE(torch::equal(script.first_weight, expected.first_weight));
    EXPECT_EQ(script.names, (std::vector<std::string>{"hidden_weight", "hidden_bias", "head_weight", "head_bias"}));
    EXPECT_LT(script.losses.back(), script.losses.front());
}

TEST_F(ScriptFile, WhatIsNoTorchScriptSaysSo) {
    std::ofstream(folder() / "text.pt") << "hello";
    EXPECT_EQ(refusal((folder() / "text.pt").string()).code, ErrorCode::InputOutput);
    EXPECT_THAT(refusal((folder() / "text.pt").string()).message, HasSubstr("can't be read as a TorchScript module"));
    const std::string whole = saved(script_of({{"weight", torch::ones({10, 64})}}, "def forward(self, x):\n    return torch.linear(x, self.weight)"));
    std::filesystem::copy_file(whole, folder() / "cut.pt");
    std::filesystem::resize_file(folder() / "cut.pt", 300);
    EXPECT_EQ(refusal((folder() / "cut.pt").string()).code, ErrorCode::InputOutput);
    EXPECT_EQ(refusal((folder() / "gone.pt").string()).code, ErrorCode::InputOutput);
}

TEST_F(ScriptFile, WhatCantBeTrainedSaysWhyBeforeTheFirstBatch) {
    const auto linear = "def forward(self, x):\n    return torch.linear(x, self.weight)";
    const Error half = refusal(saved(script_of({{"weight", torch::ones({10, 64}, at::kHalf)}}, linear)));
    EXPECT_EQ(half.code, ErrorCode::BadPlan);
    EXPECT_THAT(half.message, HasSubstr("weight is Half"));
    EXPECT_THAT(refusal(saved(script_of({}, "def forward(self, x):\n    return x"))).message, HasSubstr("no parameters"));
    EXPECT_THAT(refusal(saved(script_of({{"weight", torch::ones({10, 64})}}, "def forward(self, x, mask):\n    return torch.linear(x, self.weight) * mask"))).message,
                HasSubstr("its forward takes 2 arguments"));
    EXPECT_TRUE(load_script_model(saved(script_of({{"weight", torch::ones({10, 64})}}, "def forward(self, x, scale: float = 2.0):\n    return torch.linear(x, self.weight) * scale"))));
}

TEST_F(ScriptFile, WhatAForwardGivesOrFailsWithIsASentenceWithTheReason) {
    const auto fails_with = [&](const std::string& source) -> std::string {
        const auto model = load_script_model(saved(script_of({{"weight", torch::ones({10, 32})}}, source), "odd.pt"));
        try {
            (void)(*model)->forward(torch::ones({4, 64}));
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return "nothing";
    };
    EXPECT_THAT(fails_with("def forward(self, x):\n    return (x, self.weight)"), HasSubstr("\"odd.pt\": its output is a Tuple"));
    EXPECT_THAT(fails_with("def forward(self, x):\n    return torch.linear(x, self.weight)"),
                HasSubstr("\"odd.pt\": mat1 and mat2 shapes cannot be multiplied (4x64 and 32x10)"));
}

TEST_F(ScriptFile, APartOfItsOutputIsNamedByPlaceOrKey) {
    const auto part = [&](const std::string& source, const std::string& output) -> std::string {
        const auto model = load_script_model(saved(script_of({{"weight", torch::ones({10, 64})}}, source), "parts.pt"), output);
        try {
            return std::to_string((*model)->forward(torch::ones({4, 64})).sum().item<double>());
        } catch (const EngineError& error) {
            return describe(error.error());
        }
    };
    const std::string tuple = "def forward(self, x):\n    y = torch.linear(x, self.weight)\n    return (y.sum(), y, 3)";
    EXPECT_EQ(part(tuple, "1"), "2560.000000");
    EXPECT_EQ(part(tuple, "0"), "2560.000000");
    EXPECT_THAT(part(tuple, "2"), HasSubstr("model.output 2 is a Int, a loss takes one tensor"));
    EXPECT_THAT(part(tuple, "3"), HasSubstr("its output, a Tuple, has no part \"3\" — its parts are 0 to 2"));
    EXPECT_THAT(part(tuple, ""), HasSubstr("name the part that counts in model.output: 0 to 2"));
    const std::string dict = "def forward(self, x):\n    return {'logits': torch.linear(x, self.weight), 'input': x}";
    EXPECT_EQ(part(dict, "logits"), "2560.000000");
    EXPECT_EQ(part(dict, "input"), "256.000000");
    EXPECT_THAT(part(dict, "logit"), HasSubstr("has no part \"logit\" — its parts are logits, input"));
    EXPECT_THAT(part("def forward(self, x):\n    return torch.linear(x, self.weight)", "0"), HasSubstr("it returns one tensor, and model.output is \"0\""));
}

TEST_F(ScriptFile, WhatWillSurpriseIsFoundInItsGraph) {
    const auto findings = [](const std::string& source) { return script_findings(script_of({{"weight", torch::ones({10, 64})}}, source)); };
    // Types by their numbers: this text isn't Python's, which knows torch.bfloat16 (15) and torch.float32 (6).
    const std::string head = "def forward(self, x):\n    ", tail = "\n    return torch.linear(x, self.weight)";
    EXPECT_THAT(findings(head + "x = x * 2" + tail), testing::IsEmpty());
    EXPECT_THAT(findings(head + "x = x.half()" + tail), testing::ElementsAre(HasSubstr("line 2: to casts to float16 itself")));
    EXPECT_THAT(findings(head + "x = x.to(15)" + tail), testing::ElementsAre(HasSubstr("to casts to bfloat16 itself")));
    EXPECT_THAT(findings(head + "x = x.to(6)" + tail), testing::IsEmpty());
    EXPECT_THAT(findings(head + "x = x.to(torch.device(\"cpu\"))" + tail), testing::ElementsAre(HasSubstr("to names the device cpu")));
    EXPECT_THAT(findings(head + "x = x + torch.zeros([4, 64])" + tail), testing::ElementsAre(HasSubstr("zeros makes a tensor without a device")));
    EXPECT_THAT(findings(head + "x = x + torch.zeros([4, 64], device=x.device)" + tail), testing::IsEmpty());
    EXPECT_THAT(findings(head + "if bool(x.sum() > 0):\n        x = x + torch.ones([64], device=torch.device(\"cuda:0\"))" + tail), testing::ElementsAre(HasSubstr("ones names the device cuda:0")));
    EXPECT_THAT(findings(head + "x = torch.dropout(x, 0.5, False)" + tail), testing::ElementsAre(HasSubstr("dropout is dropout that was traced in eval mode")));
    EXPECT_THAT(findings("def forward(self, x, on: bool = True):\n    x = torch.dropout(x, 0.5, on)" + tail), testing::IsEmpty());
}

}  // namespace
}  // namespace mantissa
