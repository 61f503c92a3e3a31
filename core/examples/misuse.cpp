// What the library says to the mistakes that the articles warn of. Every attempt below is one; none may pass.
#include <mantissa.h>

#include <cstdio>

template <typename Function>
void attempt(const char* mistake, Function function) {
    try {
        function();
        std::printf("%s: PASSED\n", mistake);
    } catch (const mantissa::EngineError& error) {
        std::printf("%s: %s; %s\n", mistake, error.error().message.c_str(), error.error().hint.c_str());
    }
}

int main() {
    mantissa::Accelerator accelerator({.mixed_precision = mantissa::Precision::Fp16, .device = "cpu"});
    const auto batch = torch::ones({4, 8}), elsewhere = torch::ones({4, 8}, at::kMeta);  // meta stands for a second device
    torch::nn::Linear net(8, 2), half(8, 2);
    torch::nn::Bilinear two(8, 8, 2);
    auto raw = mantissa::sgd(net->parameters());
    auto model = accelerator.prepare(std::move(net));
    auto optimizer = accelerator.prepare(std::move(raw));
    half->to(at::kHalf);

    attempt("raw model", [&] { accelerator.prepare(std::move(net)); });
    attempt("raw optimizer", [&] { static_cast<void>(raw.core()); });
    attempt("half weights", [&] { accelerator.prepare(std::move(half)); });
    attempt("second precision", [] { mantissa::Accelerator({.mixed_precision = mantissa::Precision::Bf16}); });
    const auto loss = model(batch).square().mean();
    {
        const auto block = accelerator.autocast();
        attempt("backward in autocast", [&] { accelerator.backward(loss); });
        attempt("step in autocast", [&] { optimizer.step(); });
    }
    attempt("second scaler", [&] { accelerator.backward(mantissa::LossScaler({}, torch::kCPU).scale(model(batch).mean())); });
    accelerator.backward(loss);
    attempt("second backward", [&] { accelerator.backward(loss); });
    optimizer.step();
    attempt("second step", [&] { optimizer.step(); });
    attempt("unprepared loader", [&] { model(elsewhere); });
    auto loader = accelerator.prepare(mantissa::Loader(batch, batch));
    auto pair = accelerator.prepare(std::move(two));
    attempt("tensor by hand", [&] { pair(batch, elsewhere); });
    // What Module::to(device) leaves: the same tensor, elsewhere. (It refuses to go from cpu to meta.)
    const torch::Tensor& weight = model.unwrap()->weight;
    weight.unsafeGetTensorImpl()->shallow_copy_from(torch::empty_like(weight, at::kMeta).getIntrusivePtr());
    attempt("moved model", [&] { model(batch); });
}
