// Bad before the step began, bad after its update, or growing without end; and what can't be decided.
#include "fault_program.h"

namespace mantissa {
namespace {

using torch::Tensor;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
const std::vector<Precision> all_modes{Precision::No, Precision::Fp16, Precision::Bf16};

std::shared_ptr<FaultNet> plain_ops() {
    return std::make_shared<OpsNet>(std::vector<std::pair<std::string, Tensor>>{{"weight", weights(width, 2)}},
                                    [](const OpsNet& net, const Tensor& x) { return x.matmul(net["weight"]); });
}
std::shared_ptr<FaultNet> plain_layers() {
    torch::nn::Sequential layers;
    layers->push_back(torch::nn::Linear(torch::nn::LinearOptions(width, 2).bias(false)));
    return std::make_shared<LayerNet>(layers);
}
std::shared_ptr<FaultNet> plain_script() {
    return std::make_shared<ScriptNet>(weights(width, 2), "    return torch.matmul(x, self.weight)\n", "    return self.block.forward(x)\n");
}
using MakeNet = std::shared_ptr<FaultNet> (*)();
const std::vector<std::pair<std::string, MakeNet>> plain_nets{{"ops", plain_ops}, {"layers", plain_layers}, {"script", plain_script}};

FaultProgram program(const std::string& label, const std::string& name, const std::string& form,
                     std::function<std::shared_ptr<FaultNet>()> net) {
    return {.label = label, .name = name, .form = form, .net = std::move(net), .loss = cross_entropy,
            .batch = [](std::int64_t step) { return ordinary_batch(step); }, .optimizer = plain_sgd, .rate = 1e-6};
}

void weights_that_are_bad(FaultPrograms& to) {
    for (const auto& [form, net] : plain_nets) {
        add_in_modes(to, program("weights_poisoned", "a NaN among the weights from the start", form, [make = net] {
            auto made = make();
            const torch::NoGradGuard no_grad;
            made->parameters()[0][1][1] = not_a_number;
            return made;
        }), all_modes);
        FaultProgram marked = program("weights_poisoned", "the step after a marked NaN", form, net);
        marked.batch = spoilt([](FaultBatch& batch) { batch.features[0][0] = not_a_number; });
        marked.rule = OnNonfinite::Mark;
        marked.looks_at = fault_step + 1;
        add_in_modes(to, marked, {Precision::No, Precision::Bf16});
    }
}

std::shared_ptr<LayerNet> with_batch_norm() {
    torch::nn::Sequential layers;
    layers->push_back(torch::nn::Linear(width, width));
    layers->push_back(torch::nn::BatchNorm1d(width));
    layers->push_back(torch::nn::Linear(width, 2));
    return std::make_shared<LayerNet>(layers);
}

void statistics_that_are_bad(FaultPrograms& to) {
    add_in_modes(to, program("batchnorm_poisoned", "statistics of a bad checkpoint", "layers", [] {
        auto net = with_batch_norm();
        const torch::NoGradGuard no_grad;
        net->named_buffers()["1.running_mean"][0] = infinity;
        net->evaluates_from = 0;
        return net;
    }), all_modes);
    FaultProgram frozen = program("batchnorm_poisoned", "norm frozen after a step that overflowed", "layers", [] {
        auto net = with_batch_norm();
        net->evaluates_from = fault_step + 1;
        return net;
    });
    frozen.mode = Precision::Fp16;
    frozen.batch = spoilt([](FaultBatch& batch) { batch.features[0] *= 1e6; });
    frozen.batch_norm = BatchNormOnSkip::Keep;
    frozen.looks_at = fault_step + 1;
    to.push_back(frozen);
    frozen.name = "cnn frozen after a broken image";
    frozen.net = [] {
        auto net = std::make_shared<LayerNet>("cnn", 64, 2);
        net->evaluates_from = fault_step + 1;
        return net;
    };
    frozen.batch = spoilt([](FaultBatch& batch) { batch.features[0] *= 1e6; }, 64);
    to.push_back(frozen);
}

void updates(FaultPrograms& to) {
    for (const auto& [form, net] : plain_nets) {
        FaultProgram one = program("adam_eps", "Adam without eps, a feature that is always zero", form, net);
        one.batch = [](std::int64_t step) {
            FaultBatch batch = ordinary_batch(step);
            batch.features.select(1, 7).zero_();
            return batch;
        };
        const auto implementation = form == "layers" ? OptimizerImplementation::Fused : OptimizerImplementation::Exact;
        one.optimizer = [implementation](std::vector<Tensor> parameters, double rate) {
            return adamw(std::move(parameters), {.learning_rate = rate, .eps = 0, .implementation = implementation});
        };
        add_in_modes(to, one, all_modes);
    }
}

// A quadratic whose curvature is 2 in every direction: the step overshoots by 2.6 at rate 1.8 and converges at 0.9.
void rates(FaultPrograms& to) {
    for (const auto& [form, net] : plain_nets) {
        FaultProgram one = program("learning_rate", "a quadratic at rate 1.8", form, net);
        one.batch = [](std::int64_t) {
            auto generator = at::detail::createCPUGenerator(3);
            const Tensor directions = std::get<0>(at::linalg_qr(at::randn({samples, width}, generator)));
            return FaultBatch{directions * 4, torch::zeros({samples}, torch::kLong)};
        };
        one.loss = [](const Tensor& output, const Tensor&) { return output.square().sum(1).mean(); };
        one.rate = 1.8;
        one.initial_scale = 1;
        add_in_modes(to, one, all_modes);
    }
}

FaultProgram overflow(const std::string& form) {
    FaultProgram one = program("cause_open", "", form, form == "ops" ? std::function<std::shared_ptr<FaultNet>()>(plain_ops) : plain_script);
    one.mode = Precision::Fp16;
    one.batch = spoilt([](FaultBatch& batch) { batch.features *= 1e6; });
    return one;
}

}  // namespace

FaultPrograms poisoned_programs() {
    FaultPrograms programs;
    for (const auto add : {weights_that_are_bad, statistics_that_are_bad, updates, rates}) add(programs);
    return programs;
}

FaultPrograms open_programs() {
    FaultPrograms programs;
    for (const std::string form : {"ops", "script"}) {
        FaultProgram one = overflow(form);
        one.name = "an overflow, and nobody ran the control";
        one.has_control = false;
        programs.push_back(one);
        one.name = "numbers that are drawn anew in each process";
        one.has_control = true;
        one.is_repeatable = false;
        one.batch = [](std::int64_t step) {
            FaultBatch batch = ordinary_batch(step);
            batch.features += torch::randn_like(batch.features);
            if (step == fault_step) batch.features *= 1e6;
            return batch;
        };
        programs.push_back(one);
    }
    FaultProgram remainder = overflow("ops");
    remainder.label = "unknown";
    remainder.name = "remainder by a number below fp16";
    remainder.net = [] {
        return std::make_shared<OpsNet>(std::vector<std::pair<std::string, Tensor>>{{"weight", weights(width, 2, 1)}},
                                        [](const OpsNet& net, const Tensor& x) {
                                            const Tensor h = x.matmul(net["weight"]);
                                            return torch::fmod(h, (h * h * 1e-2).sum(1, true));
                                        });
    };
    remainder.batch = spoilt([](FaultBatch& batch) { batch.features *= 1e-4; });
    programs.push_back(remainder);
    return programs;
}

}  // namespace mantissa
