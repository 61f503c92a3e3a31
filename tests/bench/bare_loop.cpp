#include <cmath>

#include "data/dataset.h"
#include "data/sample_order.h"
#include "data/split.h"
#include "loops.h"
#include "torch_pch.h"

namespace mantissa::bench {
namespace {

torch::nn::Sequential network(const std::string& model) {
    using namespace torch::nn;  // NOLINT(google-build-using-namespace): one list of layers
    Sequential net;
    if (model == "mlp") {
        net->push_back(Linear(64, 128));
        net->push_back(ReLU());
        net->push_back(Linear(128, 10));
        return net;
    }
    net->push_back(Unflatten(UnflattenOptions(1, {1, 8, 8})));
    net->push_back(Conv2d(Conv2dOptions(1, 8, 3).padding(1)));
    net->push_back(ReLU());
    net->push_back(MaxPool2d(2));
    net->push_back(Conv2d(Conv2dOptions(8, 16, 3).padding(1)));
    net->push_back(BatchNorm2d(16));
    net->push_back(ReLU());
    net->push_back(MaxPool2d(2));
    net->push_back(Flatten());
    net->push_back(Linear(64, 10));
    return net;
}

torch::Tensor forward_loss(torch::nn::Sequential& net, Precision mode, const torch::Tensor& x, const torch::Tensor& y) {
    if (mode == Precision::No) {
        return torch::nn::functional::cross_entropy(net->forward(x), y);
    }
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, mode == Precision::Fp16 ? at::kHalf : at::kBFloat16);
    at::autocast::increment_nesting();
    auto loss = torch::nn::functional::cross_entropy(net->forward(x).to(at::kFloat), y);
    if (at::autocast::decrement_nesting() == 0) {
        at::autocast::clear_cache();
    }
    at::autocast::set_autocast_enabled(at::kCPU, false);
    return loss;
}

// GradScaler's operations.
struct Scaler {
    torch::Tensor scale = torch::full({}, 65536.0F), tracker = torch::zeros({}, at::kInt), found = torch::zeros({});

    void backward_and_step(const torch::Tensor& loss, const std::vector<torch::Tensor>& parameters, torch::optim::AdamW& optimizer) {
        (loss * scale).backward();
        std::vector<torch::Tensor> gradients;
        for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
        found.zero_();
        at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, scale.to(at::kDouble).reciprocal().to(at::kFloat));
        if (found.item<float>() == 0) optimizer.step();
        at::_amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2000);
    }
};

}  // namespace

Result<Timing> time_bare(const RunPlan& plan) {
    const auto dataset = load_dataset(plan.dataset);
    if (!dataset) return dataset.error();
    const auto split = split_dataset(*dataset, plan.dataset.validation, plan.dataset.split_seed);
    if (!split) return split.error();
    const SampleOrder order(split->training, plan.training.seed);
    torch::manual_seed(plan.training.seed);
    auto net = network(plan.model.name);
    const auto parameters = net->parameters();
    torch::optim::AdamW optimizer(parameters, torch::optim::AdamWOptions(plan.training.optimizer.learning_rate));
    Scaler scaler;

    Timing timing;
    torch::Tensor samples;
    std::int64_t epoch = 0, position = order.samples(), before = 0;
    for (std::int64_t step = 0; step < plan.training.max_steps.value_or(0); ++step) {
        const std::int64_t now = thread_cpu_ns();
        if (step >= 2) timing.step_ns.push_back(now - before);
        before = now;
        if (position >= order.samples()) {
            samples = order.epoch(epoch++);
            position = 0;
        }
        const auto chosen = samples.slice(0, position, std::min(position + plan.training.batch_size, order.samples()));
        position += plan.training.batch_size;
        const auto x = dataset->features.index_select(0, chosen), y = dataset->labels.index_select(0, chosen);
        optimizer.zero_grad();
        const auto loss = forward_loss(net, plan.mixed_precision, x, y);
        if (plan.mixed_precision == Precision::Fp16) {
            scaler.backward_and_step(loss, parameters, optimizer);
        } else {
            loss.backward();
            if (!std::isfinite(loss.item<float>())) break;
            optimizer.step();
        }
        if (step == 0) timing.first_loss = loss.item<double>();
        if (step + 1 == plan.training.max_steps) timing.last_loss = loss.item<double>();
    }
    return timing;
}

}  // namespace mantissa::bench
