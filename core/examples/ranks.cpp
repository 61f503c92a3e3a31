// Several processes that train one model together: mantissa launch --num_processes 2 ranks
// Started alone it is one process with the whole batch, by the same code.
#include <mantissa.h>

#include <cstdio>

int train() {
    const auto processes = mantissa::join_launch();
    if (!processes) throw std::runtime_error(describe(processes.error()));
    mantissa::Accelerator accelerator({.split_batches = true, .processes = *processes});
    const auto random = at::detail::createCPUGenerator(5);
    const auto features = torch::randn({96, 8}, random);
    const auto labels = torch::randint(0, 3, {96}, random, at::kLong);
    torch::manual_seed(5);
    torch::nn::Sequential net;
    net->push_back(torch::nn::Linear(8, 16));
    net->push_back(torch::nn::Linear(16, 3));
    auto sgd = mantissa::sgd(net->parameters(), {.learning_rate = 0.1});
    auto [model, optimizer, loader] =
        accelerator.prepare(std::move(net), std::move(sgd), mantissa::Loader(features, labels, {.batch_size = 16}));
    std::printf("process %d of %d\n", static_cast<int>(accelerator.process_index()), static_cast<int>(accelerator.num_processes()));
    std::fflush(stdout);
    for (int epoch = 0; epoch < 2; ++epoch) {
        for (const mantissa::Batch& batch : loader) {
            accelerator.accumulate();
            torch::Tensor loss;
            {
                const auto amp = accelerator.autocast();
                loss = torch::cross_entropy_loss(model(batch.features), batch.labels);
            }
            accelerator.backward(loss);
            optimizer.step();
            optimizer.zero_grad();
            const double of_all = accelerator.reduce(loss.detach(), mantissa::ReduceOperation::Mean).item<double>();
            if (accelerator.is_main_process()) std::printf("loss %.9g\n", of_all);
        }
    }
    return 0;
}

int main() try {
    return train();
} catch (const std::exception& error) {
    std::fprintf(stderr, "ranks: %s\n", error.what());
    return 1;
}
