#include "engine/script_model.h"

#include "engine/engine_error.h"
#include "engine/fp32_islands.h"

namespace mantissa {
namespace {

struct Mirror : torch::nn::Module {
    explicit Mirror(const torch::jit::Module& script) { mirror_script(*this, script); }
};

torch::jit::Module taken(torch::jit::Module&& script) {
    torch::jit::Module module = std::move(script);
    try {
        static_cast<void>(module._ivalue());
    } catch (const c10::Error&) {
        throw EngineError({ErrorCode::BadPlan, "an object that was moved away was given to prepare()",
                           "go on with what the first prepare() returned"});
    }
    return module;
}

class PlainInterpreter {
  public:
    PlainInterpreter() : m_before(torch::jit::getGraphExecutorOptimize()) { torch::jit::setGraphExecutorOptimize(false); }
    ~PlainInterpreter() { torch::jit::setGraphExecutorOptimize(m_before); }
    PlainInterpreter(const PlainInterpreter&) = delete;
    PlainInterpreter& operator=(const PlainInterpreter&) = delete;

  private:
    bool m_before;
};

}  // namespace

void mirror_script(torch::nn::Module& module, const torch::jit::Module& script) {
    for (const auto& parameter : script.named_parameters(/*recurse=*/false)) {
        module.register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
    }
    for (const auto& buffer : script.named_buffers(/*recurse=*/false)) {
        module.register_buffer(buffer.name, buffer.value);
    }
    for (const auto& child : script.named_children()) {
        module.register_module(child.name, std::make_shared<Mirror>(child.value));
    }
}

ScriptModel::ScriptModel(torch::jit::Module&& script) : m_script(taken(std::move(script))), m_paths(m_script) {
    mirror_script(*this, m_script);
    torch::nn::Module::train(m_script.is_training());
}

void ScriptModel::train(bool on) {
    torch::nn::Module::train(on);
    m_script.train(on);
}

c10::IValue ScriptModel::run(std::vector<c10::IValue> inputs) {
    const PlainInterpreter plain;
    const ScriptPathsScope here(m_paths);
    static_cast<void>(take_island_refusal());
    try {
        return m_script.forward(std::move(inputs));
    } catch (const std::exception&) {
        if (auto refusal = take_island_refusal()) {
            throw EngineError(std::move(*refusal));
        }
        throw;
    }
}

}  // namespace mantissa
