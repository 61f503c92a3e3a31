#include "models/script_file_model.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "base/numbers.h"
#include "engine/engine_error.h"
#include "models/script_findings.h"

namespace mantissa {
namespace {

void confine_process() {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const auto machine = static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    rlimit limit{};
    if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= machine) return;
    limit.rlim_cur = machine;
    ::setrlimit(RLIMIT_DATA, &limit);
}

std::string first_line(const std::exception& problem) {
    const auto* known = dynamic_cast<const c10::Error*>(&problem);
    const std::string text = known != nullptr ? known->what_without_backtrace() : problem.what();
    const std::string line = text.substr(0, text.find('\n'));
    return line.substr(0, line.find(". "));  // what follows guesses at reasons
}

/// The interpreter tells frames, code and, last, the reason: "RuntimeError: …". Empty: it isn't its text.
std::string reason_in(const std::string& text) {
    constexpr std::string_view mark = "RuntimeError: ";
    const std::size_t at = text.rfind(mark);
    if (!text.starts_with("The following operation failed in the TorchScript interpreter") || at == std::string::npos) return "";
    const std::size_t begin = at + mark.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

/// Where in the author's own source: the innermost frame of it, "net.py, line 9, in forward"; empty when the file doesn't say.
std::string place_in(const std::string& text) {
    const std::size_t own = text.find("Traceback of TorchScript, original code"), at = text.rfind("  File \"");
    if (own == std::string::npos || at == std::string::npos || at < own) return "";
    std::string place = text.substr(at + 8, text.find('\n', at) - at - 8);
    if (const std::size_t quote = place.find('"'); quote != std::string::npos) place.erase(quote, 1);
    return std::filesystem::path(place).filename().string();
}

Error unfit(const std::string& file, const std::string& what, const std::string& hint) {
    return {ErrorCode::BadPlan, "model.file is \"" + file + "\": " + what, hint};
}

/// "0 to 2", or the keys; empty for what has no parts that can be named.
std::string parts_of(const c10::IValue& output) {
    if (output.isTuple()) return "0 to " + std::to_string(output.toTupleRef().elements().size() - 1);
    std::string keys;
    if (output.isGenericDict()) {
        for (const auto& entry : output.toGenericDict())
            if (entry.key().isString()) keys += (keys.empty() ? "" : ", ") + entry.key().toStringRef();
    }
    return keys;
}

Result<void> check_forward(const std::string& file, const torch::jit::Module& script) {
    const auto forward = script.find_method("forward");
    if (!forward) return unfit(file, "the module has no forward", "save a whole model: torch.jit.script(model).save(\"model.pt\")");
    std::size_t needed = 0;
    for (const c10::Argument& argument : forward->function().getSchema().arguments()) needed += argument.default_value() ? 0 : 1;
    if (needed != 2)  // self and the features
        return unfit(file, "its forward takes " + std::to_string(needed - 1) + " arguments, a data set of features gives one",
                     "give the others default values, or wrap the model in a module that makes them");
    if (script.parameters().size() == 0)
        return unfit(file, "it has no parameters, so nothing can be trained", "a frozen module has none: save it before torch.jit.freeze");
    for (const auto& parameter : script.named_parameters()) {
        const at::ScalarType type = parameter.value.scalar_type();
        if (type == at::kHalf || type == at::kBFloat16)
            return unfit(file, parameter.name + " is " + c10::toString(type) + ": weights stay fp32 in mixed precision, autocast casts what computes",
                         "save the model in fp32: model.float()");
        if (!parameter.value.requires_grad()) continue;
        if (type != at::kFloat) return unfit(file, parameter.name + " is " + c10::toString(type) + ", weights that train are fp32", "save the model in fp32: model.float()");
    }
    return {};
}

}  // namespace

ScriptFileModel::ScriptFileModel(std::string name, torch::jit::Module&& script, std::string output)
    : Model(std::move(name)), m_script(std::move(script)), m_output(std::move(output)) {
    mirror_script(*this, m_script.script());
}

torch::Tensor ScriptFileModel::forward(const torch::Tensor& input) {
    const c10::IValue output = run(input), part = m_output.empty() ? output : part_of(output);
    if (part.isTensor()) return part.toTensor();
    const std::string parts = parts_of(output);
    throw EngineError(unfit(name(), std::string(m_output.empty() ? "its output" : "model.output " + m_output) + " is a " + part.tagKind() + ", a loss takes one tensor",
                            parts.empty() ? "return the logits alone, or wrap the model in a module that picks them" : "name the part that counts in model.output: " + parts));
}

c10::IValue ScriptFileModel::part_of(const c10::IValue& output) const {
    if (output.isTuple()) {
        const auto& elements = output.toTupleRef().elements();
        const auto place = parse_int(m_output);
        if (place && *place >= 0 && *place < static_cast<std::int64_t>(elements.size())) return elements[static_cast<std::size_t>(*place)];
    } else if (output.isGenericDict()) {
        const auto found = output.toGenericDict().find(m_output);
        if (found != output.toGenericDict().end()) return found->value();
    } else if (output.isTensor()) {
        throw EngineError(unfit(name(), "it returns one tensor, and model.output is \"" + m_output + "\"", "leave model.output out"));
    }
    const std::string parts = parts_of(output);
    throw EngineError(unfit(name(), "its output, a " + output.tagKind() + ", has no part \"" + m_output + "\"", parts.empty() ? "return a tuple or a dict of tensors" : "its parts are " + parts));
}

c10::IValue ScriptFileModel::run(const torch::Tensor& input) {
    try {
        return m_script.forward(shaped(input));
    } catch (const EngineError&) {
        throw;
    } catch (const std::exception& problem) {
        const std::string text = problem.what(), reason = reason_in(text), place = place_in(text);
        if (reason.empty()) throw;
        throw EngineError(unfit(name(), reason + (place.empty() ? "" : " (" + place + ")"), "its forward gets the features of a batch, here of " +
                                std::to_string(input.size(0)) + " × " + std::to_string(input.size(1)) + " numbers, and returns one row of outputs for each sample"));
    }
}

std::vector<std::string> ScriptFileModel::paths() {
    std::vector<std::string> paths;
    for (const auto& module : m_script.script().named_modules())
        if (!module.name.empty()) paths.push_back(module.name);
    return paths;
}

std::vector<std::string> ScriptFileModel::findings() { return script_findings(m_script.script()); }

void ScriptFileModel::train(bool on) {
    Model::train(on);
    m_script.train(on);
}

Result<std::shared_ptr<Model>> load_script_model(const std::string& file, const std::string& output) {
    confine_process();
    std::optional<torch::jit::Module> script;
    try {
        script.emplace(torch::jit::load(file, torch::kCPU));
    } catch (const std::exception& problem) {
        return Error{ErrorCode::InputOutput, "model.file is \"" + file + "\", which can't be read as a TorchScript module: " + first_line(problem),
                     "make it with torch.jit.script(model).save(\"model.pt\"); what torch.save writes is no TorchScript"};
    }
    if (const auto fits = check_forward(file, *script); !fits) return fits.error();
    // Saved in eval mode it would stay there for batch norm and dropout; a run trains.
    script->train(true);
    return std::shared_ptr<Model>(std::make_shared<ScriptFileModel>(std::filesystem::path(file).filename().string(), std::move(*script), output));
}

}  // namespace mantissa
