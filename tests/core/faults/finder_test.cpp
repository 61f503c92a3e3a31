// One named first cause for each kind of fault: rows 27 and 38, and the finder's part of 14, 16, 17, 18, 19.
#include "engine/safe_ops.h"
#include "fault_testing.h"
#include "numerics/birth_finder.h"

namespace mantissa {
namespace {

std::string told(const std::optional<BirthReport>& cause) {
    return cause ? cause->producer.phase + " " + cause->place() + " " + cause->code : "no cause";
}

torch::Tensor zero_and_two() { return torch::tensor({0.0F, 2.0F}, torch::requires_grad()); }
torch::Tensor hidden_log(const torch::Tensor& x) { return torch::where(x > 0, x.log(), torch::zeros({2})).sum(); }

TEST(Faults, row_27_where_hides_a_nan_from_the_loss_but_not_from_the_gradient) {
    const auto x = zero_and_two();
    const auto loss = hidden_log(x);
    EXPECT_NEAR(value(loss), 0.693147, 1e-6);
    loss.backward();
    EXPECT_TRUE(std::isnan(value(x.grad()[0])));
    EXPECT_EQ(value(x.grad()[1]), 0.5);
}

TEST(Faults, row_27_the_finder_names_the_logarithm) {
    const auto x = zero_and_two();
    BirthFinder finder;
    const auto loss = hidden_log(x);
    loss.backward();
    EXPECT_EQ(told(finder.cause_of(x.grad())), "backward log log_of_zero");
    EXPECT_EQ(finder.cause_of(x.grad())->producer.kernel, "div");
    EXPECT_EQ(told(finder.cause_of(loss)), "no cause");
    EXPECT_EQ(finder.callback_error(), "");
}

TEST(Faults, row_27_the_inner_where_has_a_finite_gradient) {
    const auto x = zero_and_two();
    BirthFinder finder;
    const auto loss = safe::where(x > 0, x, [](const torch::Tensor& seen) { return seen.log(); }).sum();
    EXPECT_NEAR(value(loss), 0.693147, 1e-6);
    loss.backward();
    EXPECT_EQ(value(x.grad()[0]), 0);
    EXPECT_EQ(value(x.grad()[1]), 0.5);
    EXPECT_EQ(told(finder.cause_of(x.grad())), "no cause");
}

// Its relatives: a root, a quotient and a power in the branch that isn't taken.
TEST(Faults, row_27_so_with_roots_quotients_and_norms) {
    const auto cause = [](auto function) {
        const auto x = zero_and_two();
        BirthFinder finder;
        torch::where(x > 0, function(x), torch::zeros({2})).sum().backward();
        return told(finder.cause_of(x.grad()));
    };
    EXPECT_EQ(cause([](const torch::Tensor& x) { return x.sqrt(); }), "backward sqrt root_at_zero");
    EXPECT_EQ(cause([](const torch::Tensor& x) { return x / x; }), "backward div zero_over_zero");
    EXPECT_EQ(cause([](const torch::Tensor& x) { return x.pow(0.5); }), "backward pow root_at_zero");
    const auto safe_gradient = [](auto function) {
        const auto x = zero_and_two();
        safe::where(x > 0, x, function).sum().backward();
        return torch::isfinite(x.grad()).all().template item<bool>();
    };
    EXPECT_TRUE(safe_gradient([](const torch::Tensor& x) { return x.sqrt(); }));
    EXPECT_TRUE(safe_gradient([](const torch::Tensor& x) { return x / x; }));
    EXPECT_TRUE(safe_gradient([](const torch::Tensor& x) { return x.pow(0.5); }));
}

TEST(Faults, row_27_a_nan_gradient_under_a_finite_loss_stops_with_the_name_of_the_weight) {
    Accelerator accelerator(in_mode(Precision::No));
    auto raw = std::make_shared<SmallModel>(torch::tensor({0.0F, 2.0F}));
    const torch::Tensor x = raw->weight;
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 0.1});
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    accelerator.backward(hidden_log(x));
    try {
        optimizer.step();
        FAIL() << "the NaN reached the weight";
    } catch (const NonFinite& stop) {
        EXPECT_EQ(stop.where(), NonFinite::Where::Gradient);
        EXPECT_EQ(stop.subject(), "weight");
        EXPECT_EQ(exit_code(stop.error().code), 4);
    }
    EXPECT_EQ(value(x[0]), 0);
    EXPECT_EQ(value(x[1]), 2);
    EXPECT_EQ(accelerator.last_step().nonfinite_grads, 1);
    EXPECT_FALSE(accelerator.last_step().nonfinite_loss);
}

// --- Row 38: the inputs of rows 10, 18, 20 and 27, one cause each (27 above).

// The scale that upstream let grow to infinity; ours stays finite, so there is nothing to find.
TEST(Faults, row_38_of_row_10_the_finder_names_the_scale) {
    const auto weight = weight_of(1), scale = torch::full({}, infinity);
    BirthFinder finder;
    finder.name(weight, "weight", "parameter");
    finder.name(scale, "loss scale", "unscale");
    const auto scaled = (weight * 1e-30).sum() * scale;
    EXPECT_EQ(told(finder.cause_of(scaled)), "unscale loss scale unknown");
    scaled.backward();
    EXPECT_EQ(told(finder.cause_of(weight.grad())), "unscale loss scale unknown");
}

TEST(Faults, row_38_of_row_10_ours_has_no_cause_to_name) {
    auto options = fp16(std::ldexp(1.0, 127));
    options.loss_scale.growth_interval = 1;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    BirthFinder finder;
    trained.step(1e-30);
    EXPECT_EQ(told(finder.cause_of(trained.weight.grad())), "no cause");
    EXPECT_EQ(accelerator.loss_scale_state()->scale, std::ldexp(1.0, 127));
}

// The constant leaves fp16 where it is added, or where it is cast; the softmax only shows it.
TEST(Faults, row_38_of_row_18_the_finder_names_the_mask_not_the_softmax) {
    const auto scores = torch::zeros({1, 3}, torch::kHalf).requires_grad_();
    BirthFinder finder;
    finder.name(scores, "scores", "data");
    const auto added = torch::softmax(scores + -1e9, 1);
    EXPECT_TRUE(torch::isnan(added).all().item<bool>());
    EXPECT_EQ(told(finder.cause_of(added)), "forward add activation_overflow");
    const auto all = torch::ones({1, 3}, torch::kBool);
    const auto filled = torch::softmax(scores.masked_fill(all, torch::full({}, -1e9).to(torch::kHalf)), 1);
    EXPECT_EQ(told(finder.cause_of(filled)), "forward to activation_overflow");
}

TEST(Faults, row_38_of_row_20_the_finder_names_adams_division) {
    for (const double gradient : {0.0, 1e-4}) {
        const auto p = torch::tensor({1.0F, -2.0F}).to(torch::kHalf).requires_grad_();
        const Optimizer optimizer = adam({p}, {.learning_rate = 1e-3});
        p.mutable_grad() = torch::full({2}, gradient, torch::kHalf);
        BirthFinder finder;
        finder.name(p, "p", "parameter");
        finder.set_phase("update");
        {
            const torch::NoGradGuard no_grad;
            optimizer.core()->update();
        }
        const auto cause = finder.cause_of(p);
        EXPECT_EQ(told(cause).substr(0, 6), "update") << gradient;
        EXPECT_EQ(cause->producer.kernel, "addcdiv");
        EXPECT_EQ(cause->code, "adam_eps");
        EXPECT_EQ(cause->producer.result.dtype, "float16");
    }
}

// What the report itself had: small weights of a convolution and a large learning rate. One step in fp32 makes the weights huge, the
// next forward leaves the format; the layer is named, in fp16 and in fp32.
void expect_the_convolution(Precision mode, double rate) {
    auto options = in_mode(mode);
    options.loss_scale.initial = 1024;
    Accelerator accelerator(options);
    torch::nn::Conv2d conv(torch::nn::Conv2dOptions(1, 1, 1).bias(false));
    conv->weight.data().fill_(1e-3);
    auto raw_optimizer = sgd(conv->parameters(), {.learning_rate = rate});
    auto [model, optimizer] = accelerator.prepare(std::move(conv), std::move(raw_optimizer));
    const auto batch = torch::ones({1, 1, 2, 2});
    accelerator.backward(model(batch).sum());
    optimizer.step();
    BirthFinder finder;
    finder.name_tensors_of(*model.unwrap());
    torch::Tensor loss;
    {
        const auto amp = accelerator.autocast();
        loss = model(batch * (mode == Precision::No ? 1e30 : 1)).square().mean();
    }
    EXPECT_FALSE(std::isfinite(value(loss)));
    EXPECT_EQ(told(finder.cause_of(loss)), "forward conv2d activation_overflow");
}

TEST(Faults, row_38_a_large_rate_on_small_weights_in_fp16) { expect_the_convolution(Precision::Fp16, 1e6); }
TEST(Faults, row_38_a_large_rate_on_small_weights_in_fp32) { expect_the_convolution(Precision::No, 1e20); }

// A bad batch and a bad weight are told as such, not as the op that met them.
TEST(Faults, row_38_a_bad_leaf_is_named_itself) {
    torch::nn::Linear linear(2, 1);
    auto batch = torch::tensor({{1.0F, static_cast<float>(not_a_number)}});
    {
        BirthFinder finder;
        finder.name_tensors_of(*linear);
        finder.name(batch, "features", "data");
        EXPECT_EQ(told(finder.cause_of(linear(batch).sum())), "data features bad_input");
    }
    linear->weight.data().fill_(infinity);
    BirthFinder finder;
    finder.name_tensors_of(*linear);
    EXPECT_EQ(told(finder.cause_of(linear(torch::ones({1, 2})).sum())), "parameter weight weights_poisoned");
}

// --- The finder's part of other rows.

struct HalfSum : torch::nn::Module {
    HalfSum() {
        wide = register_module("wide", torch::nn::Linear(torch::nn::LinearOptions(1024, 1).bias(false)));
        norm = register_module("norm", torch::nn::BatchNorm1d(1));
        wide->weight.data().fill_(1);
    }
    torch::Tensor forward(const torch::Tensor& input) { return norm(wide(input)); }
    torch::nn::Linear wide{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

TEST(Faults, row_16_the_finder_names_the_linear_whose_sum_leaves_fp16) {
    Accelerator accelerator(fp16(1024));
    auto model = accelerator.prepare(std::make_shared<HalfSum>());
    const auto batch = torch::full({2, 1024}, 100.0F);
    BirthFinder finder;
    finder.name_tensors_of(*model.unwrap());
    finder.name(batch, "features", "data");
    const auto output = model(batch);
    const auto cause = finder.cause_of(output);
    EXPECT_EQ(told(cause), "forward wide.matmul activation_overflow");
    EXPECT_EQ(cause->producer.result.dtype, "float16");
    EXPECT_EQ(cause->producer.result.pos_inf, 2);
    EXPECT_EQ(cause->producer.operands.at(0).largest, 100);
}

// NaN comes out of batch norm; the Inf that made it came out of the layer before.
TEST(Faults, row_14_the_finder_names_the_layer_before_the_batch_norm) {
    Accelerator accelerator(fp16(1024));
    auto model = accelerator.prepare(std::make_shared<HalfSum>());
    BirthFinder finder;
    finder.name_tensors_of(*model.unwrap());
    const auto loss = model(torch::cat({torch::full({1, 1024}, 100.0F), torch::ones({1, 1024})})).sum();
    EXPECT_TRUE(std::isnan(value(loss)));
    EXPECT_EQ(told(finder.cause_of(loss)), "forward wide.matmul activation_overflow");
}

TEST(Faults, row_17_the_finder_names_the_square) {
    Accelerator accelerator(fp16(1024));
    const auto amp = accelerator.autocast();
    const auto x = torch::full({4}, 300, torch::kHalf).requires_grad_();
    BirthFinder finder;
    EXPECT_EQ(told(finder.cause_of((x * x).mean())), "forward mul activation_overflow");
    EXPECT_EQ(told(finder.cause_of(x.square().mean())), "forward square activation_overflow");
}

TEST(Faults, row_19_the_finder_names_the_masked_row) {
    const auto logits = torch::zeros({1, 3}, torch::requires_grad());
    BirthFinder finder;
    const auto output = torch::softmax(logits + torch::full({1, 3}, -infinity), 1);
    EXPECT_EQ(told(finder.cause_of(output)), "forward softmax masked_row");
    output.sum().backward();
    EXPECT_EQ(told(finder.cause_of(logits.grad())), "forward softmax masked_row");
}

}  // namespace
}  // namespace mantissa
