// Mistakes that don't compile: building this file must fail, with one sentence a line.
#include <mantissa.h>

void mistakes(mantissa::Accelerator& accelerator) {
    torch::nn::Linear net(8, 2);
    torch::optim::SGD sgd(net->parameters(), 0.1);
    accelerator.prepare(net);
    accelerator.prepare(std::move(sgd));
    accelerator.prepare(torch::optim::StepLR(sgd, 10));
    accelerator.prepare(mantissa::LossScaler({}, torch::kCPU));
    accelerator.prepare(torch::nn::LinearImpl(8, 2));
}
