#include "engine/script_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_model.h"

namespace mantissa {
namespace {

// gate: (x·w)·231, held by a net; the helper is a method of gate, not a module.
torch::jit::Module make_net() {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module down("Down", unit), gate("Gate", unit), net("Net", unit);
    down.register_parameter("weight", torch::full({1, 1}, 231.0F).requires_grad_(), false);
    down.define(R"(
def forward(self, x):
    return torch.linear(x, self.weight)
)");
    gate.register_module("down", down);
    gate.register_buffer("seen", torch::zeros({1}));
    gate.define(R"(
def twice(self, x):
    return x * 2.0

def forward(self, x, y):
    return x * y
)");
    net.register_module("gate", gate);
    net.register_attribute("training", c10::BoolType::get(), true);
    net.register_parameter("scale", torch::full({1, 1}, 308.0F).requires_grad_(), false);
    net.define(R"(
def forward(self, x):
    left = torch.linear(x, self.scale)
    right = self.gate.down.forward(x)
    return self.gate.forward(left, right)
)");
    return net;
}

double fp16_output(std::vector<std::string> islands) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .device = "cpu", .fp32_islands = std::move(islands)});
    auto model = accelerator.prepare(make_net());
    return value(model(torch::ones({1, 1})).toTensor());
}

TEST(ScriptModel, Islands_hold_by_path_by_path_and_op_and_by_op) {
    EXPECT_EQ(fp16_output({}), infinity);
    for (const char* island : {"gate", "gate.mul", "aten::mul"}) EXPECT_EQ(fp16_output({island}), 71148) << island;
    for (const char* other : {"gate.down.mul", "gat", "down"}) {
        EXPECT_EQ(fp16_output({other}), infinity) << other;
    }
    EXPECT_EQ(fp16_output({"gate.down"}), 71148);  // one fp32 operand is enough for a product
}

// Two lists of modules with the same names below, as self.left[0] and self.right[0] in Python.
torch::jit::Module make_lists() {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module square("Square", unit), double_square("DoubleSquare", unit), left("List", unit), right("List2", unit), net("Net", unit);
    square.define("def forward(self, x):\n    return x * x\n");
    double_square.define("def forward(self, x):\n    return x * x\n");
    left.register_module("0", square);
    right.register_module("first", double_square);
    net.register_module("left", left);
    net.register_module("right", right);
    return net;
}

TEST(ScriptModel, A_module_is_known_by_its_whole_path_though_the_interpreter_tells_its_last_name) {
    const auto outputs = [](std::vector<std::string> islands) {
        auto net = make_lists();
        net.define("def forward(self, x):\n    return self.right.first.forward(x), getattr(self.left, \"0\").forward(x)\n");
        Accelerator accelerator({.mixed_precision = Precision::Fp16, .device = "cpu", .fp32_islands = std::move(islands)});
        auto model = accelerator.prepare(std::move(net));
        const auto output = model(torch::full({1}, 300, at::kHalf));
        const auto& elements = output.toTupleRef().elements();
        return std::pair(value(elements[0].toTensor()), value(elements[1].toTensor()));
    };
    EXPECT_EQ(outputs({"right.first.mul"}), std::pair(90000.0, infinity));
    EXPECT_EQ(outputs({"right"}), std::pair(90000.0, infinity));
    EXPECT_EQ(outputs({"left.0"}), std::pair(infinity, 90000.0));
    EXPECT_EQ(outputs({"first"}), std::pair(infinity, infinity));
}

TEST(ScriptModel, Two_modules_that_the_interpreter_cannot_tell_apart_are_refused) {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module square("Square", unit), other("Square2", unit), left("Left", unit), right("Right", unit), net("Net", unit);
    for (auto* one : {&square, &other}) one->define("def forward(self, x):\n    return x * x\n");
    left.register_module("one", square);
    right.register_module("one", other);
    net.register_module("left", left);
    net.register_module("right", right);
    net.define("def forward(self, x):\n    return self.left.one.forward(x) + self.right.one.forward(x)\n");
    const auto output = [&](std::vector<std::string> islands) {
        Accelerator accelerator({.mixed_precision = Precision::Fp16, .device = "cpu", .fp32_islands = std::move(islands)});
        return value(accelerator.prepare(net.copy())(torch::full({1}, 300, at::kHalf)).toTensor());
    };
    EXPECT_EQ(output({"left", "right.one.mul"}), 180000);
    EXPECT_EQ(output({"aten::mul"}), 180000);
    try {
        output({"left"});
        FAIL() << "accepted";
    } catch (const EngineError& error) {
        EXPECT_EQ(error.error().message,
                  "fp32_islands: TorchScript doesn't tell in which module mul runs here: left.one or right.one, and only some of "
                  "them are islands");
    }
}

TEST(ScriptModel, An_island_of_a_submodule_computes_with_its_fp32_weight) {
    const auto difference = [](std::vector<std::string> islands) {
        auto unit = std::make_shared<torch::jit::CompilationUnit>();
        torch::jit::Module inner("Inner", unit), net("Net", unit);
        inner.register_parameter("weight", torch::full({1, 1}, 1.0F / 3), false);
        inner.define("def forward(self, x):\n    return torch.linear(x, self.weight)\n");
        net.register_module("inner", inner);
        net.define("def forward(self, x):\n    return self.inner.forward(x)\n");
        Accelerator accelerator({.mixed_precision = Precision::Fp16, .device = "cpu", .fp32_islands = std::move(islands)});
        auto model = accelerator.prepare(std::move(net));
        return std::abs(value(model(torch::ones({1, 1})).toTensor()) - static_cast<double>(1.0F / 3));
    };
    EXPECT_GT(difference({}), 1e-5);
    for (const char* island : {"inner", "inner.linear", "aten::linear"}) EXPECT_EQ(difference({island}), 0) << island;
}

TEST(ScriptModel, Gradients_of_an_island_are_those_of_fp32) {
    const auto gradients = [](Precision precision, std::vector<std::string> islands) {
        Accelerator accelerator({.mixed_precision = precision, .device = "cpu", .fp32_islands = std::move(islands)});
        auto model = accelerator.prepare(make_net());
        const auto loss = model(torch::ones({1, 1})).toTensor().sum();
        loss.backward(torch::full({}, 0.125F));  // small enough for the half gradients of what surrounds the island
        std::vector<double> all;
        for (const auto& parameter : model.parameters()) all.push_back(value(parameter.grad()));
        return all;
    };
    EXPECT_EQ(gradients(Precision::Fp16, {"gate.mul"}), (std::vector<double>{231 * 0.125, 308 * 0.125}));
}

TEST(ScriptModel, Is_a_module_like_any_other) {
    Accelerator accelerator({.mixed_precision = Precision::Bf16, .device = "cpu"});
    auto script = make_net();
    auto model = accelerator.prepare(std::move(script));
    std::vector<std::string> names;
    for (const auto& entry : model.unwrap()->named_parameters()) names.push_back(entry.key());
    EXPECT_EQ(names, (std::vector<std::string>{"scale", "gate.down.weight"}));
    EXPECT_EQ(model.unwrap()->named_buffers().keys(), (std::vector<std::string>{"gate.seen"}));
    model.eval();
    EXPECT_FALSE(model.unwrap()->script().is_training());
    model.train();
    EXPECT_TRUE(model.unwrap()->script().is_training());
    auto optimizer = accelerator.prepare(sgd(model.parameters(), {.learning_rate = 1}));
    accelerator.backward((model(torch::ones({1, 1})).toTensor() - 71148).sum());
    optimizer.step();
    EXPECT_EQ(value(model.unwrap()->script().attr("scale").toTensor()), 308 - 231);  // the same memory
    EXPECT_THROW(static_cast<void>(accelerator.prepare(std::move(script))), EngineError);
}

TEST(ScriptModel, Outputs_become_fp32_wherever_they_lie) {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module net("Net", unit);
    net.define(R"(
def forward(self, x):
    y = x.to(15)
    n = x.to(4)
    return {"a": (y, [y, y], 3), "b": (y, [x.to(7)], 4)}, n
)");
    Accelerator accelerator({.mixed_precision = Precision::Bf16, .device = "cpu"});
    auto model = accelerator.prepare(std::move(net));
    const c10::IValue output = model(torch::ones({1}));
    const auto& outer = output.toTupleRef().elements();
    EXPECT_EQ(outer[1].toTensor().scalar_type(), at::kLong);
    const auto dict = outer[0].toGenericDict();
    const auto a = dict.at("a").toTupleRef().elements(), b = dict.at("b").toTupleRef().elements();
    EXPECT_EQ(a[0].toTensor().scalar_type(), at::kFloat);
    EXPECT_EQ(a[1].toTensorVector()[1].scalar_type(), at::kFloat);
    EXPECT_EQ(a[2].toInt(), 3);
    EXPECT_EQ(b[1].toTensorVector()[0].scalar_type(), at::kDouble);
}

TEST(ScriptModel, What_matched_nothing_is_refused_with_the_modules_of_the_script) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .device = "cpu", .fp32_islands = {"gate.down.mul"}});
    auto model = accelerator.prepare(make_net());
    auto optimizer = accelerator.prepare(sgd(model.parameters()));
    accelerator.backward(model(torch::ones({1, 1})).toTensor().sum());
    try {
        optimizer.step();
        FAIL() << "accepted";
    } catch (const EngineError& error) {
        EXPECT_EQ(error.error().message, "fp32_islands[0] is \"gate.down.mul\", but gate.down ran no mul in the first step");
        EXPECT_EQ(error.error().hint, "it ran linear");
    }
}

}  // namespace
}  // namespace mantissa
