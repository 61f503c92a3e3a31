#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "engine/autocast_scope.h"
#include "models/losses.h"
#include "models/model_registry.h"
#include "plan/catalogue.h"
#include "plan/memory_estimate.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

std::shared_ptr<Model> made(const std::string& id, std::uint64_t seed = 3) {
    auto model = make_model({id, "", 128}, 64, 10, seed);
    EXPECT_TRUE(model.ok());
    return *model;
}

std::string digest(const torch::Tensor& tensor) {
    Sha256 sha;
    sha.add(tensor.const_data_ptr(), tensor.nbytes());
    return sha.hex();
}

TEST(Models, SameIdsAndModulesAsTheCatalogue) {
    EXPECT_EQ(registered_models(), catalogue::model_ids());
    EXPECT_EQ(registered_losses(), catalogue::loss_ids());
    for (const auto& entry : catalogue::models()) {
        std::vector<std::string> ours = made(entry.id)->paths(), theirs = entry.modules;
        std::sort(ours.begin(), ours.end());
        std::sort(theirs.begin(), theirs.end());
        EXPECT_EQ(ours, theirs) << entry.id;
    }
}

TEST(Models, AreAsLargeAsTheMemoryEstimateSays) {
    for (const auto& entry : catalogue::models()) {
        const auto model = made(entry.id);
        std::int64_t parameters = 0, bytes = 0;
        for (const auto& tensor : model->parameters()) {
            parameters += tensor.numel();
            bytes += static_cast<std::int64_t>(tensor.nbytes());
        }
        for (const auto& buffer : model->buffers()) bytes += static_cast<std::int64_t>(buffer.nbytes());
        const ModelSize size = model_size(module_sizes({entry.id, "", 128}, 64, 10));
        EXPECT_EQ(size.parameters, parameters) << entry.id;
        EXPECT_EQ(size.bytes, bytes) << entry.id;
    }
}

// reference_models.json is written by make_reference.py beside it.
class InitialWeights : public testing::TestWithParam<const char*> {};

TEST_P(InitialWeights, ArePythons) {
    const auto reference =
        nlohmann::json::parse(std::ifstream(MANTISSA_TEST_DATA "/core/models/reference_models.json"));
    const auto& expected = reference["models"][GetParam()];
    const auto model = made(GetParam(), reference["seed"]);
    const auto parameters = model->parameters();
    ASSERT_EQ(parameters.size(), expected["parameters"].size());
    for (std::size_t i = 0; i < parameters.size(); ++i)
        EXPECT_EQ(digest(parameters[i].detach()), expected["parameters"][i]) << i;
    const torch::NoGradGuard no_grad;
    const auto input = torch::ones({4, 64}) * torch::arange(1, 5).unsqueeze(1);
    const auto sums = model->forward(input).to(torch::kDouble).sum(1);
    for (int i = 0; i < 4; ++i) {
        const double value = expected["output_sums"][i];
        EXPECT_NEAR(sums[i].item<double>(), value, 1e-4 * std::abs(value) + 1e-4) << i;
    }
}
INSTANTIATE_TEST_SUITE_P(Catalogue, InitialWeights,
                         testing::Values("mlp", "cnn", "linear", "squares", "gated"));

class Names : public OutputWatch {
  public:
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>&,
                const torch::Tensor& result) override {
        seen.push_back(op.empty() ? module : module + "." + op);
        types.push_back(result.scalar_type());
    }
    [[nodiscard]] at::ScalarType type_of(const std::string& name) const {
        const auto found = std::find(seen.begin(), seen.end(), name);
        return found == seen.end() ? at::kInt : types[static_cast<std::size_t>(found - seen.begin())];
    }
    std::vector<std::string> seen;
    std::vector<at::ScalarType> types;
};

TEST(Models, ToldInTheOrderOfComputation) {
    const auto model = made("gated");
    Names names;
    {
        const WatchScope scope(names);
        model->forward(torch::ones({2, 64}));
    }
    EXPECT_EQ(names.seen, (std::vector<std::string>{"inlet", "gate.value", "gate.opening", "gate.mul",
                                                    "gate.down", "gate", "norm", "head"}));
    model->forward(torch::ones({2, 64}));
    EXPECT_EQ(names.seen.size(), 8u);  // nobody watches any more
    EXPECT_EQ(ModuleScope::current(), "");
}

TEST(Models, IslandRunsInFp32AndItsNeighboursDoNot) {
    const auto model = made("gated");
    ASSERT_TRUE(model->set_fp32_islands({"gate"}).ok());
    Names names;
    const WatchScope scope(names);
    const AutocastScope autocast(at::kCPU, at::kHalf);
    model->forward(torch::ones({2, 64}));
    EXPECT_EQ(names.type_of("inlet"), at::kHalf);
    for (const char* name : {"gate.value", "gate.mul", "gate.down", "gate"})
        EXPECT_EQ(names.type_of(name), at::kFloat) << name;
    EXPECT_EQ(names.type_of("head"), at::kHalf);
    EXPECT_TRUE(is_inside_autocast(at::kCPU));
}

TEST(Models, IslandsCanBeTakenBack) {
    const auto model = made("mlp");
    ASSERT_TRUE(model->set_fp32_islands({"hidden"}).ok());
    ASSERT_TRUE(model->set_fp32_islands({}).ok());
    Names names;
    const WatchScope scope(names);
    const AutocastScope autocast(at::kCPU, at::kBFloat16);
    model->forward(torch::ones({2, 64}));
    EXPECT_EQ(names.type_of("hidden"), at::kBFloat16);
}

TEST(Models, UnknownIslandIsRefusedAndChangesNothing) {
    const auto model = made("cnn");
    const auto result = model->set_fp32_islands({"conv3"});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::BadPlan);
    EXPECT_NE(result.error().message.find("\"conv3\""), std::string::npos);
    EXPECT_NE(result.error().hint.find("conv2"), std::string::npos);
}

TEST(Models, FailureKeepsTheInnermostModule) {
    const auto model = made("gated");
    ModuleScope::forget_last_failure();
    EXPECT_THROW(model->forward(torch::ones({2, 63})), std::exception);
    EXPECT_EQ(ModuleScope::module_of_last_failure(), "inlet");
    EXPECT_EQ(ModuleScope::current(), "");
}

TEST(Models, UnknownModelAndModelFileAreRefused) {
    EXPECT_EQ(make_model({"mpl", "", 128}, 64, 10, 1).error().code, ErrorCode::BadPlan);
    EXPECT_EQ(make_model({"mlp", "net.pt", 128}, 64, 10, 1).error().code, ErrorCode::InputOutput);
    EXPECT_EQ(make_model({"cnn", "", 128}, 30, 2, 1).error().code, ErrorCode::BadPlan);
}

TEST(Losses, Values) {
    const auto output = torch::tensor({{2.0f, 0.0f}, {0.0f, 1.0f}});
    const auto labels = torch::tensor({0, 0}, torch::kLong);
    const double first = std::log1p(std::exp(-2.0)), second = std::log1p(std::exp(1.0));
    EXPECT_NEAR((*find_loss("cross_entropy"))(output, labels).item<double>(), (first + second) / 2, 1e-6);
    EXPECT_NEAR((*find_loss("naive_nll"))(output, labels).item<double>(), (first + second) / 2, 1e-6);
    EXPECT_NEAR((*find_loss("mse"))(output, labels).item<double>(), (1 + 0 + 1 + 1) / 4.0, 1e-6);
    EXPECT_NEAR((*find_loss("l1"))(output, labels).item<double>(), (1 + 0 + 1 + 1) / 4.0, 1e-6);
    EXPECT_NEAR((*find_loss("huber"))(output, labels).item<double>(), (0.5 + 0 + 0.5 + 0.5) / 4.0, 1e-6);
    const auto far = torch::tensor({{3.0f, 0.0f}}), zero = torch::tensor({0}, torch::kLong);
    EXPECT_NEAR((*find_loss("huber"))(far, zero).item<double>(), (2 - 0.5) / 2, 1e-6);  // 2 away: |d| − ½
    const double binary = std::log1p(std::exp(-2.0)) + 2 * std::log(2.0) + std::log1p(std::exp(1.0));
    EXPECT_NEAR((*find_loss("bce_with_logits"))(output, labels).item<double>(), binary / 4, 1e-6);
    // Where sigmoid is 0 or 1 in every format, the fused form still knows the distance.
    EXPECT_NEAR((*find_loss("bce_with_logits"))(torch::tensor({{-200.0f, 0.0f}}), zero).item<double>(), (200 + std::log(2.0)) / 2, 1e-4);
    EXPECT_EQ(find_loss("hinge").error().code, ErrorCode::BadPlan);
}

TEST(Losses, NaiveFormBreaksWhereTheOtherDoesNot) {
    const auto output = torch::tensor({{200.0f, 0.0f}});
    const auto labels = torch::tensor({1}, torch::kLong);
    EXPECT_EQ((*find_loss("cross_entropy"))(output, labels).item<double>(), 200);
    EXPECT_TRUE(std::isinf((*find_loss("naive_nll"))(output, labels).item<double>()));
}

TEST(Losses, NaiveFormTakesTheLogarithmOfTheLabelAlone) {
    const auto output = torch::tensor({{200.0f, 0.0f}}).requires_grad_();
    (*find_loss("naive_nll"))(output, torch::tensor({0}, torch::kLong)).backward();
    EXPECT_TRUE(torch::equal(output.grad(), torch::zeros({1, 2})));  // the other class's 0 does no harm
    // exp(-100) is a subnormal: its logarithm is finite, its inverse isn't.
    const auto far = torch::tensor({{100.0f, 0.0f}}).requires_grad_();
    const auto loss = (*find_loss("naive_nll"))(far, torch::tensor({1}, torch::kLong));
    EXPECT_NEAR(loss.item<double>(), 100, 0.5);
    loss.backward();
    EXPECT_FALSE(at::isfinite(far.grad()).all().item<bool>());
}

}  // namespace
}  // namespace mantissa
