#include "fault_program.h"

#include "engine/safe_ops.h"
#include "models/model_registry.h"

namespace mantissa {

using torch::Tensor;

void FaultNet::adopt(const torch::nn::Module& module) {
    for (const auto& entry : module.named_parameters(/*recurse=*/false)) register_parameter(entry.key(), entry.value());
    for (const auto& entry : module.named_buffers(/*recurse=*/false)) register_buffer(entry.key(), entry.value());
    for (const auto& child : module.named_children()) register_module(child.key(), child.value());
}

OpsNet::OpsNet(std::vector<std::pair<std::string, Tensor>> weights_of, Function function) : m_function(std::move(function)) {
    for (const auto& [name, tensor] : weights_of) register_parameter(name, tensor);
}

LayerNet::LayerNet(torch::nn::Sequential layers) {
    adopt(*layers);
    m_function = [layers](const Tensor& features) mutable { return layers->forward(features); };
}

LayerNet::LayerNet(const std::string& catalogue_id, std::int64_t features, std::int64_t classes) {
    ModelPlan plan;
    plan.name = catalogue_id;
    auto model = make_model(plan, features, classes, 7);
    if (!model) throw std::runtime_error(describe(model.error()));
    adopt(**model);
    m_function = [held = *model](const Tensor& input) { return held->forward(input); };
}

void LayerNet::before_step(std::int64_t step) {
    if (evaluates_from && step >= *evaluates_from) eval();
}

ScriptNet::ScriptNet(const Tensor& weight, const std::string& block_body, const std::string& top_body) {
    auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module block("Block", unit), top("Top", unit);
    block.register_parameter("weight", weight.detach().clone().requires_grad_(), false);
    block.register_attribute("training", c10::BoolType::get(), true);
    block.define("def forward(self, x):\n" + block_body);
    top.register_module("block", block);
    top.register_attribute("training", c10::BoolType::get(), true);
    top.define("def forward(self, x):\n" + top_body);
    m_script = std::make_shared<ScriptModel>(std::move(top));
    adopt(*m_script);
}

std::string title(const FaultProgram& program) {
    return program.name + ", " + program.form + ", " + to_string(program.mode);
}

FaultBatch ordinary_batch(std::int64_t step, std::int64_t features) {
    auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(1000 + step));
    const Tensor values = at::randn({samples, features}, generator);
    return {values, (values.sum(1) > 0).to(torch::kLong)};
}

std::function<FaultBatch(std::int64_t)> spoilt(std::function<void(FaultBatch&)> spoil, std::int64_t features) {
    return [spoil = std::move(spoil), features](std::int64_t step) {
        FaultBatch batch = ordinary_batch(step, features);
        if (step == fault_step) spoil(batch);
        return batch;
    };
}

Tensor weights(std::int64_t in, std::int64_t out, double scale) {
    auto generator = at::detail::createCPUGenerator(7);
    return (at::randn({in, out}, generator) * scale).requires_grad_();
}

Tensor cross_entropy(const Tensor& output, const Tensor& labels) { return at::cross_entropy_loss(output, labels); }
Tensor mean_of_output(const Tensor& output, const Tensor& /*labels*/) { return output.mean(); }

Optimizer plain_sgd(std::vector<Tensor> parameters, double rate) { return sgd(std::move(parameters), {.learning_rate = rate}); }

void add_in_modes(FaultPrograms& to, FaultProgram program, const std::vector<Precision>& modes) {
    for (const Precision mode : modes) {
        program.mode = mode;
        to.push_back(program);
    }
}

}  // namespace mantissa
