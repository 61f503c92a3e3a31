// Each sentence of the definition of a birth (design §7), on ops, modules, TorchScript, backward and updates.
#include "numerics/birth_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "engine/autocast_scope.h"
#include "engine/optimizer.h"
#include "engine/script_model.h"
#include "numerics/tensor_reading.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using torch::Tensor;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::string told(const std::optional<BirthReport>& cause) {
    return cause ? cause->producer.phase + " " + cause->place() + " " + cause->code : "no cause";
}
Tensor row(std::vector<float> values) { return torch::tensor(values); }

TEST(TensorReading, counts_six_ways_in_every_dtype) {
    const Tensor values = row({-3, 0, -0.0F, 0.5F, 240, infinity, -infinity, -infinity, not_a_number});
    for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble}) {
        const TensorReading reading = read_tensor(values.to(type));
        EXPECT_THAT((std::vector{reading.negative, reading.zero, reading.positive, reading.neg_inf, reading.pos_inf, reading.nan}),
                    ElementsAre(1, 2, 2, 2, 1, 1))
            << reading.dtype;
        EXPECT_EQ(reading.elements(), 9);
        EXPECT_EQ(reading.largest, 240);
        EXPECT_EQ(reading.smallest_nonzero, 0.5);
        EXPECT_EQ(level_of(reading), Level::NaN);
        EXPECT_TRUE(std::isnan(worst_of(reading)));
    }
    const TensorReading small = read_tensor(row({-3, 0.5F, 500}).to(at::kFloat8_e4m3fn));  // 500 has no place in it
    EXPECT_EQ(small.dtype, "float8_e4m3fn");
    EXPECT_EQ(small.nan, 1);
    EXPECT_EQ(small.largest, 3);
    const TensorReading labels = read_tensor(torch::tensor({0, 7, -1}, torch::kLong));
    EXPECT_EQ(labels.dtype, "int64");
    EXPECT_THAT((std::vector{labels.negative, labels.zero, labels.positive}), ElementsAre(1, 1, 1));
}

TEST(TensorReading, reads_views_by_their_own_elements) {
    const Tensor wide = torch::arange(12, torch::kFloat).reshape({3, 4});
    const TensorReading column = read_tensor(wide.t().select(0, 1));
    EXPECT_THAT(column.shape, ElementsAre(3));
    EXPECT_EQ(column.largest, 9);
    EXPECT_EQ(column.smallest_nonzero, 1);
    EXPECT_EQ(read_tensor(torch::ones({1}).expand({5})).positive, 5);
    EXPECT_EQ(read_tensor(torch::ones({3}).sub(2)).negative, 3);
    EXPECT_EQ(first_bad_row(torch::stack({torch::zeros(2), row({1, infinity}), row({not_a_number, 1})})), 2);  // a NaN before an Inf
    EXPECT_EQ(first_bad_row(torch::zeros({2, 2})), std::nullopt);
}

TEST(BirthFinder, the_first_cause_is_told_with_everything_that_was_read) {
    const Tensor features = torch::cat({torch::full({2, 4}, 3.0F), torch::full({1, 4}, 100.0F)}).to(at::kHalf);
    BirthFinder finder;
    finder.name(features, "features", "data");
    const Tensor tenfold = features * 10;
    const Tensor square = tenfold * tenfold;  // 900 and 10⁶
    const Tensor mean = square.sub(square).mean();
    const auto cause = finder.cause_of(mean);
    EXPECT_EQ(told(cause), "forward mul activation_overflow");
    const OpReading& producer = cause->producer;
    EXPECT_EQ(producer.operands.size(), 2u);
    EXPECT_EQ(producer.operands[0].largest, 1000);
    EXPECT_EQ(producer.operands[0].smallest_nonzero, 30);
    EXPECT_EQ(producer.result.dtype, "float16");
    EXPECT_THAT(producer.result.shape, ElementsAre(3, 4));
    EXPECT_EQ(producer.result.pos_inf, 4);
    EXPECT_EQ(producer.result.positive, 8);
    EXPECT_EQ(producer.result.largest, 900);
    EXPECT_TRUE(producer.is_birth);
    EXPECT_EQ(cause->sample, 2);
    EXPECT_EQ(cause->carried, 2);  // the difference and its mean
    ASSERT_EQ(cause->after.size(), 2u);
    EXPECT_EQ(cause->after[0].op, "sub");
    EXPECT_TRUE(cause->after[0].is_birth);  // Inf → NaN is a birth of its own
    EXPECT_EQ(cause->after[1].op, "mean");
    ASSERT_EQ(cause->before.size(), 1u);
    EXPECT_THAT(cause->before[0].scalars, ElementsAre(10));
    EXPECT_EQ(cause->before[0].operands[0].name, "features");
    EXPECT_EQ(finder.ops().size(), 4u);
    EXPECT_EQ(finder.callback_error(), "");
}

TEST(BirthFinder, tells_at_most_twelve_ops_before_and_four_after) {
    BirthFinder finder;
    Tensor x = torch::ones({2}), other = torch::ones({2});
    for (int i = 0; i < 20; ++i) {
        x = x + 1;
        other = other * 2;
    }
    Tensor bad = torch::exp(x * 100);
    for (int i = 0; i < 6; ++i) bad = bad + 1;
    const auto cause = finder.cause_of(bad);
    EXPECT_EQ(told(cause), "forward exp activation_overflow");
    ASSERT_EQ(cause->before.size(), 12u);
    EXPECT_EQ(cause->before.back().index, cause->producer.index - 1);
    int of_the_other = 0;
    for (std::size_t i = 1; i < cause->before.size(); ++i) EXPECT_LT(cause->before[i - 1].index, cause->before[i].index);
    for (const OpReading& op : cause->before) of_the_other += op.op == "mul" && op.index != cause->producer.index - 1;
    EXPECT_EQ(of_the_other, 4);  // eight along the data flow, the rest the last of the step: every second one is the other's
    EXPECT_EQ(cause->after.size(), 4u);
    EXPECT_EQ(cause->carried, 6);
}

TEST(BirthFinder, destinations_are_no_operands_and_allocations_no_births) {
    const Tensor features = row({1, 2}), old = row({not_a_number, not_a_number});
    BirthFinder finder;
    old.copy_(features);
    EXPECT_EQ(told(finder.cause_of(old)), "no cause");
    old.fill_(not_a_number);  // its own scalar: meant
    EXPECT_EQ(told(finder.cause_of(old)), "no cause");
    Tensor out = torch::full({2}, not_a_number);
    at::mul_out(out, features, torch::tensor(3e38F));
    EXPECT_EQ(told(finder.cause_of(out)), "forward mul activation_overflow");
    EXPECT_EQ(told(finder.cause_of(torch::empty({4}))), "no cause");
}

TEST(BirthFinder, a_scalar_that_is_not_finite_is_meant_but_a_nan_of_it_is_not) {
    const Tensor scores = torch::zeros({1, 3}), mask = torch::tensor({{true, false, true}});
    BirthFinder finder;
    const Tensor masked = scores.masked_fill(mask, -infinity);
    EXPECT_EQ(told(finder.cause_of(masked)), "no cause");
    EXPECT_EQ(told(finder.cause_of(torch::softmax(masked, 1))), "no cause");
    EXPECT_EQ(told(finder.cause_of(torch::softmax(scores.masked_fill(torch::ones({1, 3}, torch::kBool), -infinity), 1))),
              "forward softmax masked_row");
    EXPECT_EQ(told(finder.cause_of(mask.to(torch::kFloat) * -infinity)), "forward mul inf_minus_inf");  // 0 · ∞
}

TEST(BirthFinder, an_inf_in_a_scaled_gradient_is_a_birth_only_when_the_scale_has_settled) {
    for (const bool is_probing : {true, false}) {
        const Tensor weight = torch::full({2}, 3.0F).to(at::kHalf).requires_grad_();
        BirthFinder finder;
        finder.name(weight, "weight", "parameter");
        finder.set_loss_scale(32768, is_probing);
        ((weight * 4).sum().to(at::kFloat) * 32768).backward();
        const auto cause = finder.cause_of(weight.grad());
        EXPECT_EQ(told(cause), is_probing ? "no cause" : "backward mul scale_probing");
        if (cause) {
            EXPECT_EQ(cause->producer.result.pos_inf, 2);
        }
    }
}

TEST(BirthFinder, leaves_come_first) {
    torch::nn::BatchNorm1d norm(2);
    const Tensor good = torch::randn({4, 2}), bad = torch::stack({row({1, 2}), row({1, not_a_number})});
    norm->running_var.fill_(infinity);
    norm->eval();
    {
        BirthFinder finder;
        finder.name_tensors_of(*norm);
        finder.name(bad, "features", "data");
        const auto cause = finder.cause_of(torch::relu(bad * 2));
        EXPECT_EQ(told(cause), "data features bad_input");
        EXPECT_EQ(cause->sample, 1);
        EXPECT_EQ(cause->producer.result.nan, 1);
        EXPECT_EQ(cause->carried, 2);
        EXPECT_EQ(cause->after.at(0).op, "mul");
    }
    norm->running_mean.fill_(not_a_number);
    BirthFinder finder;
    finder.name_tensors_of(*norm);
    EXPECT_EQ(told(finder.cause_of(norm(good))), "buffer running_mean batchnorm_poisoned");
    // In training the statistics are written, not read: they poison nothing.
    norm->train();
    EXPECT_EQ(told(finder.cause_of(norm(good))), "no cause");
}

struct Masked : torch::nn::Module {
    Masked() { mask = register_buffer("mask", torch::full({1, 3}, -infinity)); }
    Tensor forward(const Tensor& scores) { return torch::softmax(scores + mask, 1); }
    Tensor mask;
};

TEST(BirthFinder, a_buffer_that_was_so_when_the_run_began_is_a_mask) {
    Masked masked;
    const std::vector<std::string> none, its_mask{"mask"};
    for (const auto& [meant, expected] : {std::pair{its_mask, "forward softmax masked_row"}, {none, "buffer mask unknown"}}) {
        BirthFinder finder;
        finder.name_tensors_of(masked, meant);
        EXPECT_EQ(told(finder.cause_of(masked.forward(torch::zeros({1, 3})))), expected);
    }
}

TEST(BirthFinder, follows_what_is_written_through_views) {
    BirthFinder finder;
    const Tensor x = torch::ones({2, 2}) * 2, seen = x.view({4});
    seen.mul_(3e38F);
    EXPECT_EQ(told(finder.cause_of(x + 1)), "forward mul activation_overflow");
    const Tensor joined = torch::zeros({2, 2}), huge = torch::full({2}, 100.0F);
    joined[0].copy_(torch::exp(huge));
    joined[1].copy_(huge);  // the latest write is the healthy one
    EXPECT_EQ(told(finder.cause_of(joined.sum())), "forward exp activation_overflow");
    EXPECT_EQ(told(finder.cause_of(joined[1].sum())), "no cause");
}

TEST(BirthFinder, a_composite_is_the_birth_and_what_ran_within_it_explains) {
    const Tensor features = torch::full({2, 8}, 300.0F), weight = torch::full({4, 8}, 100.0F);
    BirthFinder finder;
    finder.name(weight, "gate.down.weight", "parameter");
    Tensor output;
    {
        const AutocastScope autocast(at::kCPU, at::kHalf);
        output = torch::linear(features, weight);
    }
    const auto cause = finder.cause_of(output);
    EXPECT_EQ(told(cause), "forward gate.down.linear activation_overflow");
    EXPECT_NE(cause->producer.kernel, "linear");
    EXPECT_EQ(cause->producer.operands[0].largest, 300);  // as they came in, before autocast
    EXPECT_EQ(cause->producer.operands[1].name, "gate.down.weight");
    EXPECT_EQ(cause->producer.result.dtype, "float16");
}

TEST(BirthFinder, codes_of_functions_between_modules) {
    const auto zeros = torch::zeros({2, 3});
    BirthFinder finder;
    EXPECT_EQ(told(finder.cause_of(zeros / zeros)), "forward div zero_over_zero");
    EXPECT_EQ(told(finder.cause_of(zeros.log())), "forward log log_of_zero");
    EXPECT_EQ(told(finder.cause_of(zeros.rsqrt())), "forward rsqrt root_at_zero");
    EXPECT_EQ(told(finder.cause_of((zeros - 1).sqrt())), "forward sqrt root_at_zero");
    EXPECT_EQ(told(finder.cause_of(torch::masked_select(zeros, zeros > 0).mean())), "forward mean zero_over_zero");
    finder.set_phase("loss");
    const auto ignored = torch::full({2}, -100, torch::kLong);
    EXPECT_EQ(told(finder.cause_of(torch::cross_entropy_loss(zeros, ignored))), "loss loss.cross_entropy_loss zero_over_zero");
    const auto half = torch::full({300}, 4.0F).to(at::kHalf).mul(100);
    EXPECT_EQ(told(finder.cause_of((half - 0).square().mean())), "loss loss.square loss_in_half");
}

// gate: x·w, whose product with itself leaves fp16; deeper on the interpreter's stack lies a tensor that is bad and has no part in it.
torch::jit::Module script_net() {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module gate("Gate", unit), net("Net", unit);
    gate.register_parameter("weight", torch::full({2, 2}, 100.0F).requires_grad_(), false);
    gate.define("def forward(self, x):\n    y = torch.linear(x, self.weight)\n    return y * y\n");
    net.register_module("gate", gate);
    net.define("def forward(self, x, bad):\n    return torch.cat([bad, self.gate.forward(x)]), self.gate.forward(x)\n");
    return net;
}

TEST(BirthFinder, names_the_module_in_torchscript_and_takes_the_ops_own_operands) {
    ScriptModel model(script_net());
    const Tensor features = torch::ones({2, 2}), bad = torch::full({1, 2}, not_a_number);
    BirthFinder finder;
    finder.name_tensors_of(model);
    finder.name(features, "features", "data");
    Tensor output;
    {
        const AutocastScope autocast(at::kCPU, at::kHalf);
        output = model.forward(features * 2, bad).toTuple()->elements()[1].toTensor();
    }
    const auto cause = finder.cause_of(output);
    EXPECT_EQ(told(cause), "forward gate.mul activation_overflow");
    EXPECT_EQ(cause->producer.operands.size(), 2u);
    EXPECT_EQ(cause->producer.operands[0].largest, 400);
    EXPECT_EQ(cause->sample, 0);
    const auto sum = output.to(at::kFloat).sum();
    sum.backward();
    const auto of_gradient = finder.cause_of(model.parameters()[0].grad());
    EXPECT_EQ(of_gradient ? of_gradient->producer.module : "finite", "finite");
    EXPECT_EQ(finder.callback_error(), "");
}

TEST(BirthFinder, a_backward_op_belongs_to_the_module_of_its_forward_op_also_on_another_thread) {
    torch::nn::Linear gate(2, 2);
    gate->weight.data().fill_(1);
    gate->bias.data().fill_(-2);
    const Tensor features = torch::ones({3, 2}).requires_grad_();
    BirthFinder finder;
    for (const auto& entry : gate->named_parameters()) finder.name(entry.value(), "gate." + entry.key(), "parameter");
    finder.set_place([] { return std::string("norm"); });
    const Tensor root = gate(features).sqrt();  // 1 + 1 − 2 = 0
    finder.set_place({});
    const Tensor loss = root.sum();
    // As the engine's device threads do it: they take over the callbacks of the thread that called.
    const at::ThreadLocalState here;
    std::thread([&] {
        const at::ThreadLocalStateGuard there(here);
        loss.backward();
    }).join();
    const auto cause = finder.cause_of(gate->weight.grad());
    EXPECT_EQ(told(cause), "backward norm.sqrt root_at_zero");
    EXPECT_EQ(cause->producer.kernel, "div");
    EXPECT_EQ(cause->sample, std::nullopt);  // no batch was named
    EXPECT_EQ(finder.callback_error(), "");
}

// The engine fits a node's results to their shapes after the node has ended: a bias gets the sum over the batch there.
TEST(BirthFinder, what_the_engine_does_after_a_node_is_backward_too) {
    torch::nn::Linear gate(2, 2);
    BirthFinder finder;
    finder.name_tensors_of(*gate);
    finder.set_phase("loss");
    const Tensor half = gate->bias.to(at::kHalf) + torch::zeros({64, 2}, at::kHalf);
    (half * 1.0).backward(torch::full({64, 2}, 2000.0F).to(at::kHalf));  // 64 · 2,000 leaves fp16
    const auto cause = finder.cause_of(gate->bias.grad());
    EXPECT_EQ(told(cause), "backward loss.add activation_overflow");
    EXPECT_EQ(cause->producer.kernel, "sum");
}

TEST(BirthFinder, the_update_by_one_op_each_by_lists_and_fused) {
    const auto weights = [] { return std::vector{torch::ones({2}).requires_grad_(), torch::ones({3}).requires_grad_()}; };
    for (const auto implementation : {OptimizerImplementation::Exact, OptimizerImplementation::Fused}) {
        const std::vector<Tensor> parameters = weights();
        const Optimizer optimizer = adamw(parameters, {.eps = 0, .implementation = implementation});
        parameters[0].mutable_grad() = torch::ones({2});
        parameters[1].mutable_grad() = torch::zeros({3});  // 0/0 where eps is 0
        BirthFinder finder;
        finder.name(parameters[0], "body.weight", "parameter");
        finder.name(parameters[1], "head.weight", "parameter");
        finder.set_phase("update");
        {
            const torch::NoGradGuard no_grad;
            optimizer.core()->update();
        }
        EXPECT_EQ(told(finder.cause_of(parameters[0])), "no cause");
        const auto cause = finder.cause_of(parameters[1]);
        EXPECT_EQ(told(cause), implementation == OptimizerImplementation::Exact ? "update head.addcdiv adam_eps"
                                                                                 : "update head.fused_adamw adam_eps");
        EXPECT_EQ(cause->producer.result.nan, 3);
    }
    // Elements of a list are ops of their own: a NaN in one explains nothing in another.
    const std::vector<Tensor> parameters = weights();
    const std::vector<Tensor> gradients{torch::full({2}, not_a_number), torch::full({3}, 3e38F)};
    BirthFinder finder;
    finder.name(gradients[0], "first gradient", "data");
    finder.set_phase("update");
    {
        const torch::NoGradGuard no_grad;
        at::_foreach_add_(parameters, gradients, -10);
    }
    EXPECT_EQ(told(finder.cause_of(parameters[0])), "data first gradient bad_input");
    EXPECT_EQ(told(finder.cause_of(parameters[1])), "update foreach_add activation_overflow");
}

TEST(BirthFinder, unscaling) {
    const std::vector<Tensor> gradients{torch::ones({2}), torch::full({2}, 1e30F)};
    Tensor found = torch::zeros({});
    const Tensor tiny_scale = torch::full({}, 1e20F), endless = torch::full({}, infinity);
    BirthFinder finder;
    finder.set_phase("update");
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, tiny_scale);
    EXPECT_EQ(told(finder.cause_of(gradients[0])), "no cause");
    EXPECT_EQ(finder.cause_of(gradients[1])->producer.phase, "unscale");
    at::_amp_foreach_non_finite_check_and_unscale_({gradients[0]}, found, endless);
    EXPECT_EQ(told(finder.cause_of(gradients[0])), "unscale loss scale unknown");
}

TEST(BirthFinder, a_hidden_overflow_is_found_though_the_loss_is_finite) {
    const Tensor features = torch::full({2, 2}, 300.0F).to(at::kHalf);
    BirthFinder finder;
    const Tensor square = features * features;
    const Tensor loss = torch::sigmoid(square).mean();
    EXPECT_EQ(told(finder.cause_of(loss)), "no cause");
    EXPECT_EQ(told(finder.hidden_overflow()), "forward mul activation_overflow");
}

}  // namespace
}  // namespace mantissa
