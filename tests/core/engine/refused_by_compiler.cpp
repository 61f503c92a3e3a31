// Lines that must not compile: refused_by_compiler.cmake compiles this file and looks for each sentence. Never linked.
#include "engine/accelerator.h"

namespace mantissa {

struct Net : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& input) { return input; }
};

void misuse(Accelerator& accelerator, std::vector<torch::Tensor> weights) {
    auto net = std::make_shared<Net>();
    accelerator.prepare(net);
    accelerator.prepare(torch::optim::SGD(weights, torch::optim::SGDOptions(0.1)));
    torch::optim::SGD optimizer(weights, torch::optim::SGDOptions(0.1));
    accelerator.prepare(torch::optim::StepLR(optimizer, 1));
    accelerator.prepare(torch::data::make_data_loader(torch::data::datasets::TensorDataset(weights), 1));
    accelerator.prepare(LossScaler({}, torch::kCPU));
    accelerator.prepare(Net());
    accelerator.prepare({true}, std::move(net), 7);
    accelerator.prepare();
}

}  // namespace mantissa
