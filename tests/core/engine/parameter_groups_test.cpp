// Parameter groups. The weights are those of torch.optim 2.11 in Python (CPU, AVX2 kernels) after six steps with a LambdaLR 1/(1+e/2)
// over both groups: w[k][i] = (i-2)(k+1)/4, g[k][i] = ((7i + 3 step + 5k) mod 11 - 5)/8, k < 2 in group 0, k = 2 in group 1.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "engine/classic_optimizers.h"
#include "engine/parameter_groups.h"
#include "engine/scheduler.h"
#include "small_model.h"

namespace mantissa {
namespace {

const std::map<std::string, std::vector<float>> python = {
        {"sgd exact", {-0x1.07345e0000000p-2, -0x1.a78ac40000000p-2, 0x1.e6a5b40000000p-6, 0x1.272ae00000000p-3,
         0x1.85683a0000000p-2, -0x1.f4fb9a0000000p-1, -0x1.8855fe0000000p-2, 0x1.eb81500000000p-6, 0x1.981e6c0000000p-2,
         0x1.3a53300000000p+0, -0x1.82dfba0000000p+0, -0x1.84a11c0000000p-1, 0x1.d004b00000000p-7, 0x1.7a5b160000000p-1,
         0x1.80405e0000000p+0}},
        {"sgd mixed exact", {-0x1.2106bc0000000p-1, -0x1.a1c7700000000p-3, -0x1.17de3e0000000p-7, 0x1.148a7a0000000p-2,
         0x1.1155140000000p-1, -0x1.f6c57a0000000p-1, -0x1.0cc4560000000p-1, -0x1.3282340000000p-7, 0x1.0bd5a40000000p-1,
         0x1.d2d1700000000p-1, -0x1.858c000000000p+0, -0x1.8af89c0000000p-1, 0x1.0268800000000p-5, 0x1.760c320000000p-1,
         0x1.8104d20000000p+0}},
        {"adam exact", {-0x1.e912660000000p-2, -0x1.13ec9e0000000p-2, 0x1.5377e40000000p-7, 0x1.e3b9dc0000000p-3,
         0x1.ec0eb20000000p-2, -0x1.f920cc0000000p-1, -0x1.ed73260000000p-2, -0x1.3e53be0000000p-8, 0x1.fea55c0000000p-2,
         0x1.0460cc0000000p+0, -0x1.8087220000000p+0, -0x1.81bf260000000p-1, 0x1.bb32e80000000p-9, 0x1.7ef8cc0000000p-1,
         0x1.7feb2c0000000p+0}},
        {"adamw exact", {-0x1.e903500000000p-2, -0x1.1409b40000000p-2, 0x1.546ed20000000p-7, 0x1.e464560000000p-3,
         0x1.ec852a0000000p-2, -0x1.ff3e020000000p-1, -0x1.edecb80000000p-2, -0x1.3eb7d80000000p-8, 0x1.ffe5500000000p-2,
         0x1.0486640000000p+0, -0x1.7f78de0000000p+0, -0x1.7e40da0000000p-1, -0x1.bb32e80000000p-9, 0x1.8107340000000p-1,
         0x1.8014d40000000p+0}},
        {"sgd fused", {-0x1.07345e0000000p-2, -0x1.a78ac40000000p-2, 0x1.e6a5b40000000p-6, 0x1.272ae00000000p-3,
         0x1.85683a0000000p-2, -0x1.f4fb9a0000000p-1, -0x1.8855fc0000000p-2, 0x1.eb81480000000p-6, 0x1.981e6c0000000p-2,
         0x1.3a53300000000p+0, -0x1.82dfba0000000p+0, -0x1.84a11c0000000p-1, 0x1.d004b00000000p-7, 0x1.7a5b160000000p-1,
         0x1.80405e0000000p+0}},
        {"sgd mixed fused", {-0x1.2106bc0000000p-1, -0x1.a1c7700000000p-3, -0x1.17de3e0000000p-7, 0x1.148a7a0000000p-2,
         0x1.1155140000000p-1, -0x1.f6c57a0000000p-1, -0x1.0cc4560000000p-1, -0x1.3282340000000p-7, 0x1.0bd5a40000000p-1,
         0x1.d2d1700000000p-1, -0x1.858c000000000p+0, -0x1.8af89c0000000p-1, 0x1.0268800000000p-5, 0x1.760c320000000p-1,
         0x1.8104d20000000p+0}},
        {"adam fused", {-0x1.e912660000000p-2, -0x1.13ec9e0000000p-2, 0x1.5377e40000000p-7, 0x1.e3b9dc0000000p-3,
         0x1.ec0eb20000000p-2, -0x1.f920cc0000000p-1, -0x1.ed73260000000p-2, -0x1.3e53c20000000p-8, 0x1.fea55c0000000p-2,
         0x1.0460cc0000000p+0, -0x1.8087220000000p+0, -0x1.81bf260000000p-1, 0x1.bb32e80000000p-9, 0x1.7ef8cc0000000p-1,
         0x1.7feb2c0000000p+0}},
        {"adamw fused", {-0x1.e903500000000p-2, -0x1.1409b40000000p-2, 0x1.546ed20000000p-7, 0x1.e464560000000p-3,
         0x1.ec852a0000000p-2, -0x1.ff3e020000000p-1, -0x1.edecb80000000p-2, -0x1.3eb7dc0000000p-8, 0x1.ffe5500000000p-2,
         0x1.0486640000000p+0, -0x1.7f78de0000000p+0, -0x1.7e40da0000000p-1, -0x1.bb32e80000000p-9, 0x1.8107340000000p-1,
         0x1.8014d40000000p+0}},
        {"rmsprop exact", {-0x1.c4d42c0000000p-2, -0x1.4bf9a20000000p-2, 0x1.9785e00000000p-6, 0x1.bfc63c0000000p-3,
         0x1.b1078e0000000p-2, -0x1.ec91720000000p-1, -0x1.d762580000000p-2, -0x1.4a24520000000p-6, 0x1.ff97e80000000p-2,
         0x1.0e49060000000p+0, -0x1.80e7180000000p+0, -0x1.8556500000000p-1, 0x1.b7be1a0000000p-8, 0x1.7da1340000000p-1,
         0x1.7f6bbc0000000p+0}},
        {"adagrad exact", {-0x1.8d52f60000000p-2, -0x1.89e4fa0000000p-2, 0x1.be9b6c0000000p-5, 0x1.7c2c460000000p-3,
         0x1.6be0220000000p-2, -0x1.db0ca20000000p-1, -0x1.a981180000000p-2, -0x1.61a1dc0000000p-5, 0x1.06bc620000000p-1,
         0x1.1beb2a0000000p+0, -0x1.8461bc0000000p+0, -0x1.9751840000000p-1, 0x1.ef2df20000000p-6, 0x1.7582440000000p-1,
         0x1.7d93740000000p+0}},
        {"adadelta exact", {-0x1.fd125c0000000p-2, -0x1.02fd0e0000000p-2, 0x1.780b9a0000000p-11, 0x1.fed1c40000000p-3,
         0x1.fbe12c0000000p-2, -0x1.ff336c0000000p-1, -0x1.fe55f80000000p-2, -0x1.f2d4b20000000p-15, 0x1.fe9bb00000000p-2,
         0x1.00b2da0000000p+0, -0x1.8124f60000000p+0, -0x1.8e1b760000000p-1, 0x1.2859920000000p-6, 0x1.7b65000000000p-1,
         0x1.7f14700000000p+0}},
        {"adamax exact", {-0x1.dcd2900000000p-2, -0x1.22bdc00000000p-2, 0x1.4b64b60000000p-6, 0x1.d232ca0000000p-3,
         0x1.e09f820000000p-2, -0x1.f6ea3c0000000p-1, -0x1.e3fe460000000p-2, -0x1.7ec71e0000000p-7, 0x1.03d0340000000p-1,
         0x1.089a980000000p+0, -0x1.81399c0000000p+0, -0x1.8325700000000p-1, 0x1.932e5c0000000p-8, 0x1.7ddcea0000000p-1,
         0x1.7fd95e0000000p+0}},
        {"nadam exact", {-0x1.e2ad7e0000000p-2, -0x1.200ac40000000p-2, 0x1.762b000000000p-7, 0x1.e63d640000000p-3,
         0x1.da6af40000000p-2, -0x1.01915c0000000p+0, -0x1.ed3da00000000p-2, -0x1.d4226e0000000p-8, 0x1.fcbedc0000000p-2,
         0x1.0716000000000p+0, -0x1.80a1880000000p+0, -0x1.8380d00000000p-1, 0x1.3e04900000000p-8, 0x1.7e58980000000p-1,
         0x1.7faa560000000p+0}},
        {"radam exact", {-0x1.ea96c40000000p-2, -0x1.0e219c0000000p-2, 0x1.2e5a2e0000000p-8, 0x1.e22dee0000000p-3,
         0x1.f88d000000000p-2, -0x1.ff7d1e0000000p-1, -0x1.f228b20000000p-2, -0x1.6114e60000000p-9, 0x1.fcd4ca0000000p-2,
         0x1.0520460000000p+0, -0x1.80c9bc0000000p+0, -0x1.80bb9c0000000p-1, 0x1.3f82da0000000p-9, 0x1.7eeeae0000000p-1,
         0x1.8001d00000000p+0}},
};

std::vector<torch::Tensor> three_weights() {
    std::vector<torch::Tensor> weights;
    for (int k = 0; k < 3; ++k) {
        weights.push_back(((torch::arange(5, torch::kFloat) - 2) * (k + 1) / 4).requires_grad_());
    }
    return weights;
}

template <typename Options>
void expect_python(const std::string& name, Optimizer (*make)(std::vector<GroupWith<Options>>), const Options& first,
                   const Options& second) {
    const auto weights = three_weights();
    const Optimizer optimizer =
        make({GroupWith<Options>{{weights[0], weights[1]}, first}, GroupWith<Options>{{weights[2]}, second}});
    const Scheduler scheduler = lambda_lr(optimizer, [](std::int64_t e) { return 1 / (1 + static_cast<double>(e) / 2); });
    for (int step = 0; step < 6; ++step) {
        for (int k = 0; k < 3; ++k) {
            const auto numbers = torch::arange(5, torch::kFloat) * 7 + (step * 3 + k * 5);
            weights[static_cast<std::size_t>(k)].mutable_grad() = (numbers.remainder(11) - 5) / 8;
        }
        {
            const torch::NoGradGuard no_grad;
            optimizer.core()->update();
        }
        scheduler.core()->step();
    }
    const auto all = torch::cat(weights).detach();
    const auto& expected = python.at(name);
    ASSERT_EQ(all.numel(), static_cast<std::int64_t>(expected.size()));
    for (std::int64_t i = 0; i < all.numel(); ++i) {
        // To the bit on the CPU that they were made on; the vector square root of another maker's may round the last bit otherwise, Python's too.
        const double python_has = expected[static_cast<std::size_t>(i)];
        EXPECT_NEAR(all.const_data_ptr<float>()[i], python_has, 3e-7 * std::fabs(python_has) + 1e-9) << name << ", weight " << i;
    }
}

constexpr OptimizerImplementation both[] = {OptimizerImplementation::Exact, OptimizerImplementation::Fused};

TEST(ParameterGroups, sgd_adam_and_adamw_have_pythons_bits) {
    for (const auto implementation : both) {
        const std::string kind = implementation == OptimizerImplementation::Exact ? " exact" : " fused";
        expect_python<SgdOptions>("sgd" + kind, sgd,
                                  {.learning_rate = .1, .momentum = .9, .weight_decay = .01, .nesterov = true,
                                   .implementation = implementation},
                                  {.learning_rate = .02, .momentum = .5, .dampening = .25, .implementation = implementation});
        expect_python<SgdOptions>("sgd mixed" + kind, sgd,
                                  {.learning_rate = .1, .weight_decay = .05, .maximize = true, .implementation = implementation},
                                  {.learning_rate = .03, .momentum = .8, .implementation = implementation});
        expect_python<AdamOptions>("adam" + kind, adam,
                                   {.learning_rate = .01, .beta2 = .99, .eps = 1e-6, .weight_decay = .1,
                                    .implementation = implementation},
                                   {.learning_rate = .002, .beta1 = .7, .beta2 = .95, .amsgrad = true,
                                    .implementation = implementation});
        expect_python<AdamOptions>("adamw" + kind, adamw,
                                   {.learning_rate = .01, .beta2 = .99, .eps = 1e-6, .weight_decay = .1,
                                    .implementation = implementation},
                                   {.learning_rate = .002, .beta1 = .7, .beta2 = .95, .amsgrad = true, .maximize = true,
                                    .implementation = implementation});
    }
}

TEST(ParameterGroups, the_other_optimizers_have_pythons_bits) {
    using O = ClassicOptions;
    expect_python<O>("rmsprop exact", rmsprop,
                     {.learning_rate = .01, .weight_decay = .01, .momentum = .5, .smoothing = .9, .centered = true},
                     {.learning_rate = .003, .eps = 1e-6, .smoothing = .8});
    expect_python<O>("adagrad exact", adagrad,
                     {.learning_rate = .1, .weight_decay = .01, .eps = 1e-10, .learning_rate_decay = .1},
                     {.learning_rate = .03, .eps = 1e-6});
    expect_python<O>("adadelta exact", adadelta, {.learning_rate = 1, .weight_decay = .01, .eps = 1e-6, .smoothing = .8},
                     {.learning_rate = .5, .eps = 1e-4, .smoothing = .9});
    expect_python<O>("adamax exact", adamax, {.learning_rate = .02, .weight_decay = .01, .beta1 = .8, .beta2 = .99},
                     {.learning_rate = .004, .eps = 1e-6});
    expect_python<O>("nadam exact", nadam,
                     {.learning_rate = .02, .weight_decay = .01, .decoupled_weight_decay = true, .beta1 = .8, .beta2 = .99},
                     {.learning_rate = .004, .momentum_decay = .01});
    expect_python<O>("radam exact", radam, {.learning_rate = .02, .weight_decay = .01, .beta1 = .8, .beta2 = .99},
                     {.learning_rate = .004, .eps = 1e-6});
}

std::string refusal(const std::function<void()>& use) {
    try {
        use();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

TEST(ParameterGroups, an_error_names_the_group) {
    const auto w = three_weights();
    EXPECT_EQ(refusal([&] { static_cast<void>(adamw({AdamGroup{{w[0]}, {}}, AdamGroup{{w[1]}, {.beta2 = 1}}})); }),
              "adamw, group 1: beta2 is 1");
    EXPECT_EQ(refusal([&] { static_cast<void>(radam({ClassicGroup{{w[0]}, {.beta1 = -1}}})); }), "radam: momentum is -1");
    EXPECT_EQ(refusal([&] { static_cast<void>(sgd({SgdGroup{{w[0]}, {}}, SgdGroup{{w[1], w[0]}, {}}})); }),
              "sgd: a parameter is in group 0 and in group 1, and would be updated twice");
    EXPECT_EQ(refusal([&] { static_cast<void>(sgd({SgdGroup{{w[0]}, {}}, SgdGroup{{}, {}}})); }),
              "an optimizer got no parameters");
    EXPECT_EQ(refusal([&] { static_cast<void>(sgd(std::vector<SgdGroup>{})); }), "sgd got no groups");
    EXPECT_EQ(refusal([&] {
                  static_cast<void>(adam({AdamGroup{{w[0]}, {}},
                                          AdamGroup{{w[1]}, {.implementation = OptimizerImplementation::Fused}}}));
              }),
              "adam: group 1 has another implementation than group 0");
    // A tied weight that a module lists twice is one weight.
    EXPECT_EQ(sgd({w[0], w[1], w[0]}).core()->groups()[0].parameters.size(), 2U);
}

struct Block : torch::nn::Module {
    Block() {
        register_module("embedding", torch::nn::Embedding(4, 3));
        register_module("attention", torch::nn::Linear(3, 3));
        register_module("ln_1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({3})));
        register_module("bn", torch::nn::BatchNorm2d(3));
        register_module("groups", torch::nn::GroupNorm(torch::nn::GroupNormOptions(1, 3)));
        register_module("normalised_head", torch::nn::Linear(torch::nn::LinearOptions(3, 2).bias(false)));
        auto own = register_module("final_norm", std::make_shared<Own>());
        auto tied = register_module("tied", std::make_shared<Own>());
        tied->scale = tied->register_parameter("scale_again", own->scale);
    }
    struct Own : torch::nn::Module {
        Own() { scale = register_parameter("scale", torch::ones(3)); }
        torch::Tensor scale;
    };
};

// Rule of transformers' Trainer: no decay on norms and biases; an embedding is decayed.
TEST(ParameterGroups, no_decay_on_norms_and_biases) {
    const DecayGroups groups = no_decay_on_norms_and_biases(Block());
    using Names = std::vector<std::string>;
    EXPECT_EQ(groups.decayed_names, (Names{"embedding.weight", "attention.weight", "normalised_head.weight", "tied.scale"}));
    EXPECT_EQ(groups.undecayed_names, (Names{"attention.bias", "ln_1.weight", "ln_1.bias", "bn.weight", "bn.bias",
                                             "groups.weight", "groups.bias", "final_norm.scale"}));
    EXPECT_TRUE(is_spared_by_name("h.0.LayerNorm.weight"));
    EXPECT_TRUE(is_spared_by_name("norm.weight"));
    EXPECT_FALSE(is_spared_by_name("normal.weight"));
    EXPECT_FALSE(is_spared_by_name("embed_norms.weight"));
}

TEST(ParameterGroups, the_state_keeps_each_groups_options) {
    const auto w = three_weights(), again = three_weights();
    const AdamOptions first{.beta2 = 0.9, .eps = 1e-3}, second{.beta1 = 0.5, .amsgrad = true};
    const Optimizer optimizer = adam({AdamGroup{{w[0]}, first}, AdamGroup{{w[1], w[2]}, second}});
    const Optimizer plain = adam({AdamGroup{{again[0]}, {}}, AdamGroup{{again[1], again[2]}, {}}});
    const auto update = [](const Optimizer& one, const std::vector<torch::Tensor>& weights, double gradient) {
        const torch::NoGradGuard no_grad;
        for (const auto& weight : weights) weight.mutable_grad() = torch::full({5}, gradient);
        one.core()->update();
    };
    update(optimizer, w, 0.5);
    for (std::size_t k = 0; k < 3; ++k) again[k].data().copy_(w[k]);
    plain.core()->load_state(optimizer.core()->state());
    for (int i = 0; i < 3; ++i) {
        update(optimizer, w, -0.25);
        update(plain, again, -0.25);
    }
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(w[k].equal(again[k])) << k;
}

TEST(ParameterGroups, a_plan_makes_two_groups_that_decay_differently) {
    const auto w = three_weights();
    OptimizerPlan plan;
    plan.weight_decay = 0.5;
    plan.learning_rate = 0.1;
    const Optimizer optimizer = make_optimizer(plan, {w[0]}, {w[1], w[2]});
    ASSERT_EQ(optimizer.core()->groups().size(), 2U);
    for (const auto& weight : w) weight.mutable_grad() = torch::zeros(5);
    const torch::NoGradGuard no_grad;
    const auto before = torch::stack(w).clone();
    optimizer.core()->update();
    EXPECT_TRUE(w[0].equal(before[0] * (1 - 0.1 * 0.5)));
    EXPECT_TRUE(w[1].equal(before[1]));
    EXPECT_TRUE(w[2].equal(before[2]));
    EXPECT_EQ(make_optimizer(plan, {w[0]}).core()->groups().size(), 1U);
    EXPECT_EQ(make_optimizer(plan, {}, {w[0]}).core()->groups().at(0).weight_decay, 0);
}

}  // namespace
}  // namespace mantissa
