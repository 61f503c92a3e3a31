// Values and gradients that leave fp16, and only fp16.
#include "fault_program.h"

namespace mantissa {
namespace {

using torch::Tensor;

constexpr double still = 1e-6;  // a rate at which the weights stay where they are

FaultProgram overflow(const std::string& name, const std::string& form, std::function<std::shared_ptr<FaultNet>()> net, double factor,
                      const std::string& place) {
    return {.label = "activation_overflow", .name = name, .form = form, .mode = Precision::Fp16, .net = std::move(net),
            .loss = cross_entropy, .batch = spoilt([factor](FaultBatch& batch) { batch.features *= factor; }),
            .optimizer = plain_sgd, .rate = still, .place = place};
}

std::shared_ptr<FaultNet> linear_relu_linear(double second_factor) {
    torch::nn::Sequential layers;
    layers->push_back(torch::nn::Linear(width, 16));
    layers->push_back(torch::nn::ReLU());
    layers->push_back(torch::nn::Linear(16, 16));
    layers->push_back(torch::nn::Linear(16, 2));
    const torch::NoGradGuard no_grad;
    layers->named_parameters()["2.weight"].mul_(second_factor);
    layers->named_parameters()["3.weight"].mul_(1 / second_factor);
    return std::make_shared<LayerNet>(layers);
}

void forward_overflows(FaultPrograms& to) {
    to.push_back(overflow("product of a gate", "ops", [] {
        return std::make_shared<OpsNet>(
            std::vector<std::pair<std::string, Tensor>>{{"value", weights(width, 16, 1)}, {"opening", weights(width, 16, 1)},
                                                        {"down", weights(16, 2)}},
            [](const OpsNet& net, const Tensor& x) {
                const Tensor gate = x.matmul(net["value"]) * x.matmul(net["opening"]);
                return (gate * 1e-3).matmul(net["down"]);
            });
    }, 200, "mul"));
    to.push_back(overflow("exponential", "ops", [] {
        return std::make_shared<OpsNet>(
            std::vector<std::pair<std::string, Tensor>>{{"weight", weights(width, 16, 0.4)}, {"head", weights(16, 2)}},
            [](const OpsNet& net, const Tensor& x) {
                return x.matmul(net["weight"]).exp().log1p().matmul(net["head"]);
            });
    }, 12, "exp"));
    to.push_back(overflow("sum of a long row", "ops", [] {
        return std::make_shared<OpsNet>(
            std::vector<std::pair<std::string, Tensor>>{{"wide", weights(width, 4096)}}, [](const OpsNet& net, const Tensor& x) {
                const Tensor wide = x.matmul(net["wide"]);
                const Tensor sum = (wide * wide).sum(1, true);
                return torch::cat({sum, -sum}, 1) * 1e-5;
            });
    }, 30, "sum"));
    to.push_back(overflow("large second layer", "layers", [] { return linear_relu_linear(300); }, 2000, "2.addmm"));
    FaultProgram gated = overflow("gate of the catalogue", "layers", [] { return std::make_shared<LayerNet>("gated", 64, 2); }, 1, "gate.mul");
    gated.batch = [](std::int64_t step) {
        FaultBatch batch = ordinary_batch(step, 64);
        batch.features *= step == fault_step ? 1.5 : 0.3;
        return batch;
    };
    to.push_back(gated);
    FaultProgram squares = overflow("squares of the catalogue", "layers", [] {
        auto net = std::make_shared<LayerNet>("squares", 30, 2);
        const torch::NoGradGuard no_grad;
        net->named_parameters()["head.weight"].mul_(1e-3);
        return net;
    }, 1, "");
    squares.batch = spoilt([](FaultBatch& batch) { batch.features *= 500; }, 30);
    to.push_back(squares);
    FaultProgram cnn = overflow("an image too bright", "layers", [] { return std::make_shared<LayerNet>("cnn", 64, 2); }, 1, "conv1.conv2d");
    cnn.batch = spoilt([](FaultBatch& batch) { batch.features[0] *= 1e5; }, 64);
    to.push_back(cnn);
    to.push_back(overflow("square in a block", "script", [] {
        return std::make_shared<ScriptNet>(weights(width, 4, 1), "    y = torch.matmul(x, self.weight)\n    return y * y\n",
                                           "    return self.block.forward(x)[:, :2] * 0.001\n");
    }, 200, "block.mul"));
    to.push_back(overflow("product in a block", "script", [] {
        return std::make_shared<ScriptNet>(weights(width, 4, 100), "    return torch.matmul(x, self.weight)\n",
                                           "    return self.block.forward(x)[:, :2] * 0.0001\n");
    }, 500, "block.matmul"));
}

std::function<std::shared_ptr<FaultNet>()> plain_net(const std::string& form) {
    if (form == "layers") return [] { return linear_relu_linear(1); };
    if (form == "script") {
        return [] {
            return std::make_shared<ScriptNet>(weights(width, 2), "    return torch.matmul(x, self.weight)\n",
                                               "    return self.block.forward(x)\n");
        };
    }
    return [] {
        return std::make_shared<OpsNet>(std::vector<std::pair<std::string, Tensor>>{{"weight", weights(width, 2)}},
                                        [](const OpsNet& net, const Tensor& x) { return x.matmul(net["weight"]); });
    };
}

void scaled_gradients(FaultPrograms& to) {
    for (const std::string form : {"ops", "layers", "script"}) {
        FaultProgram program{.name = "loss × 20,000 from step 5", .form = form, .mode = Precision::Fp16, .net = plain_net(form),
                             .loss = cross_entropy, .optimizer = plain_sgd, .rate = 1e-12, .initial_scale = 65536};
        program.label = "persistent_overflow";
        program.batch = [](std::int64_t step) {
            FaultBatch batch = ordinary_batch(step);
            batch.loss_factor = step >= fault_step ? 2e4 : 1;
            return batch;
        };
        to.push_back(program);
        program.label = "scale_probing";
        program.name = "scale that starts at 2^32";
        program.batch = [](std::int64_t step) { return ordinary_batch(step); };
        program.initial_scale = 4294967296.0;
        program.looks_at_skips = true;
        to.push_back(program);
        program.name = "scale that tries to grow";
        program.initial_scale = form == "ops" ? 16384 : form == "layers" ? 262144 : 16384;
        program.growth_interval = 4;
        to.push_back(program);
    }
}

void losses(FaultPrograms& to) {
    for (const std::string form : {"ops", "layers", "script"}) {
        FaultProgram program{.label = "loss_in_half", .name = "squared error as a product", .form = form, .mode = Precision::Fp16,
                             .net = plain_net(form), .optimizer = plain_sgd, .rate = 1e-12, .place = "loss.matmul"};
        // Autocast makes a half product of it: 16 squares of some 300. The logarithm keeps the control's loss from growing beyond health.
        program.loss = [](const Tensor& output, const Tensor&) {
            return output.t().matmul(output).to(torch::kFloat).abs().mean().log1p();
        };
        program.batch = spoilt([](FaultBatch& batch) { batch.features *= 1000; });
        to.push_back(program);
    }
}

/// A term of the loss that weighs little. Adam learns from gradients of any size, so fp32 doesn't mind.
FaultProgram light_loss(const std::string& name, const std::string& form, double weight, double scale) {
    FaultProgram program{.label = "gradient_underflow", .name = name, .form = form, .mode = Precision::Fp16, .net = plain_net(form),
                         .loss = cross_entropy, .rate = 0.02, .initial_scale = scale, .max_steps = 100};
    program.batch = [weight](std::int64_t step) {
        FaultBatch batch = ordinary_batch(step);
        batch.loss_factor = weight;
        return batch;
    };
    program.optimizer = [](std::vector<Tensor> parameters, double rate) {
        return adamw(std::move(parameters), {.learning_rate = rate, .eps = 1e-20});
    };
    return program;
}

}  // namespace

FaultPrograms underflowing() {
    FaultPrograms programs;
    for (const std::string form : {"ops", "layers", "script"}) {
        programs.push_back(light_loss("loss × 1e-7 without a loss scale", form, 1e-7, 1));
        programs.push_back(light_loss("loss × 1e-8 at loss scale 16", form, 1e-8, 16));
    }
    return programs;
}

FaultPrograms range_programs() {
    FaultPrograms programs;
    forward_overflows(programs);
    scaled_gradients(programs);
    losses(programs);
    return programs;
}

}  // namespace mantissa
