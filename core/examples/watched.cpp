// A training of one's own that the window follows, and that goes on where it stopped: watched FOLDER [resume].
// Open it with mantissa-workbench while it runs: each attempt is a row of a run folder below MANTISSA_RUNS_DIR.
#include <mantissa.h>

#include <cstdio>

int train(const std::string& folder, bool resumes) {
    mantissa::Accelerator accelerator({.mixed_precision = mantissa::Precision::Fp16,
                                       .gradient_accumulation_steps = 2,
                                       .project = {.directory = folder, .automatic_checkpoint_naming = true, .total_limit = 3},
                                       .log_with = {"mantissa", "tensorboard"},
                                       .logging_dir = folder});
    accelerator.init_trackers("watched", {{"learning_rate", 0.01}});
    const auto random = at::detail::createCPUGenerator(2);
    const auto features = torch::randn({100, 8}, random);
    const auto labels = torch::randint(0, 3, {100}, random, at::kLong);
    torch::manual_seed(2);
    torch::nn::Sequential net;
    net->push_back(torch::nn::Linear(8, 32));
    net->push_back(torch::nn::BatchNorm1d(32));
    net->push_back(torch::nn::Dropout(0.1));
    net->push_back(torch::nn::Linear(32, 3));
    const auto groups = mantissa::no_decay_on_norms_and_biases(*net);
    auto adamw = mantissa::adamw({{groups.decayed, {.learning_rate = 0.01, .weight_decay = 0.01}},
                                  {groups.undecayed, {.learning_rate = 0.01, .weight_decay = 0}}});
    auto warm_up = mantissa::linear_with_warmup(adamw, 5, 42);
    auto [model, optimizer, loader, scheduler] =
        accelerator.prepare(std::move(net), std::move(adamw), mantissa::Loader(features, labels, {.batch_size = 8, .shuffle = true}),
                            std::move(warm_up));
    if (resumes) accelerator.load_state();
    int saved_at = resumes ? 0 : 23;  // in the middle of an epoch and of an accumulation window
    while (loader.epoch() < 6) {
        for (const mantissa::Batch& batch : loader) {
            accelerator.accumulate();
            torch::Tensor loss;
            {
                const auto amp = accelerator.autocast();
                loss = torch::cross_entropy_loss(model(batch.features), batch.labels);
            }
            accelerator.backward(loss);
            accelerator.clip_grad_norm(model.parameters(), 1.0);
            optimizer.step();
            scheduler.step();
            optimizer.zero_grad();
            std::printf("loss %.9g next learning rate %.9g\n", loss.item<double>(), scheduler.learning_rate());
            if (--saved_at == 0) std::printf("saved %s\n", accelerator.save_state().c_str());
        }
    }
    accelerator.end_training();
    return 0;
}

int main(int count, char** arguments) try {
    if (count < 2) throw std::invalid_argument("name a folder");
    return train(arguments[1], count > 2);
} catch (const std::exception& error) {
    std::fprintf(stderr, "watched: %s\n", error.what());
    return 1;
}
