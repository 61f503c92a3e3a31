// Choosing fp16 or bf16: article_2 [no|fp16|bf16|fp8]. Without an argument each mode runs in a fresh process, on the same data with
// the same start. Support is asked first: a mode that the device doesn't have is refused, never replaced.
#include <mantissa.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

int train(mantissa::Precision mode) {
    const auto choice = mantissa::choose_device(mantissa::find_devices(), "auto", mode, /*allow_emulated=*/false);
    if (!choice) {
        std::printf("%s refused: %s\n", to_string(mode), choice.error().message.c_str());
        return 3;
    }
    std::printf("%s on %s: %s\n", to_string(choice->precision.effective), choice->device.id.c_str(), to_string(choice->precision.support));
    mantissa::Accelerator accelerator({.mixed_precision = choice->precision.effective, .device = choice->device.id});

    const auto random = at::detail::createCPUGenerator(17);
    const auto features = torch::randn({32, 8}, random);
    const auto labels = torch::randint(0, 2, {32}, random, at::kLong);
    torch::manual_seed(17);
    torch::nn::Linear net(8, 2);
    auto sgd = mantissa::sgd(net->parameters(), {.learning_rate = 0.01});
    mantissa::Loader batches(features, labels, {.batch_size = 8, .shuffle = true, .use_seedable_sampler = true, .data_seed = 100});
    auto [model, optimizer, loader] = accelerator.prepare(std::move(net), std::move(sgd), std::move(batches));

    int steps = 0, skipped = 0;
    for (int epoch = 0; epoch < 4; ++epoch) {
        for (const mantissa::Batch& batch : loader) {
            optimizer.zero_grad();
            torch::Tensor loss;
            {
                const auto amp = accelerator.autocast();
                loss = torch::cross_entropy_loss(model(batch.features), batch.labels);
            }
            accelerator.backward(loss);
            optimizer.step();  // throws NonFinite, before any weight moves, when loss or gradients are not finite
            skipped += accelerator.optimizer_step_was_skipped() ? 1 : 0;
            std::printf("%s step %d loss %.9g\n", to_string(mode), steps++, loss.item<double>());
        }
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%s: %d steps, %d skipped, peak %ld MiB\n", to_string(mode), steps, skipped, usage.ru_maxrss / 1024);
    return 0;
}

int main(int count, char** arguments) try {
    if (count > 1) return train(mantissa::parse_precision(arguments[1]).value());
    for (const char* mode : {"no", "fp16", "bf16", "fp8"}) {
        std::fflush(stdout);
        if (std::system(("'" + std::string(arguments[0]) + "' " + mode).c_str()) == -1) return 1;
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "article_2: %s\n", error.what());
    return 1;
}
