// One entrance for device and precision: article_1 [no|fp16|bf16] [FOLDER]. Without an argument ACCELERATE_MIXED_PRECISION
// decides, else `no`. The loop names neither device nor precision; the Accelerator does.
#include <mantissa.h>

#include <cstdio>

int train(const std::optional<mantissa::Precision>& mode, const std::string& folder) {
    mantissa::Accelerator accelerator({.mixed_precision = mode});
    std::printf("device %s, mixed precision %s, from %s\n", accelerator.device().str().c_str(),
                to_string(accelerator.mixed_precision()), accelerator.mixed_precision_source().c_str());

    const auto random = at::detail::createCPUGenerator(1);
    const auto features = torch::randn({64, 8}, random);
    const auto labels = torch::randint(0, 2, {64}, random, at::kLong);
    torch::manual_seed(1);
    torch::nn::Sequential net;  // one layer a line: the order of arguments in a call is not fixed, and so their random weights
    net->push_back(torch::nn::Linear(8, 16));
    net->push_back(torch::nn::ReLU());
    net->push_back(torch::nn::Linear(16, 2));
    auto adamw = mantissa::adamw(net->parameters());
    auto linear = mantissa::linear_lr(adamw, 1.0 / 3, 1.0, 10);
    mantissa::Loader batches(features, labels, {.batch_size = 8, .shuffle = true, .use_seedable_sampler = true, .data_seed = 100});
    auto [model, optimizer, loader, scheduler] =
        accelerator.prepare(std::move(net), std::move(adamw), std::move(batches), std::move(linear));

    for (int epoch = 0; epoch < 3; ++epoch) {
        for (const mantissa::Batch& batch : loader) {
            optimizer.zero_grad();
            torch::Tensor loss;
            {
                const auto amp = accelerator.autocast();
                loss = torch::cross_entropy_loss(model(batch.features), batch.labels);
            }
            accelerator.backward(loss);
            optimizer.step();
            scheduler.step();  // waits when the optimizer skipped its step
            std::printf("epoch %d loss %.9g next learning rate %.9g%s\n", epoch, loss.item<double>(), scheduler.learning_rate(),
                        accelerator.optimizer_step_was_skipped() ? " skipped" : "");
        }
    }
    model.eval();
    const torch::NoGradGuard no_grad;
    const auto answers = accelerator.unwrap(model)->forward(features.to(accelerator.device())).argmax(1);
    std::printf("accuracy in fp32 %.4f\n", (answers.cpu() == labels).to(at::kFloat).mean().item<double>());
    for (const auto& file : accelerator.save_model(model, folder)) std::printf("saved %s\n", file.c_str());
    return 0;
}

int main(int count, char** arguments) try {
    const auto mode = count > 1 ? mantissa::parse_precision(arguments[1]) : std::nullopt;
    if (count > 1 && !mode) throw std::invalid_argument(std::string(arguments[1]) + " is no precision: use no, fp16 or bf16");
    return train(mode, count > 2 ? arguments[2] : "article_1_model");
} catch (const std::exception& error) {
    std::fprintf(stderr, "article_1: %s\n", error.what());
    return 1;
}
