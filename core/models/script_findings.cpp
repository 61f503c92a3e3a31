#include "models/script_findings.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

namespace mantissa {
namespace {

using torch::jit::Node;
using torch::jit::Value;

const std::set<std::string_view> makers{"aten::zeros", "aten::ones", "aten::full", "aten::empty", "aten::rand", "aten::randn", "aten::randint", "aten::arange", "aten::linspace", "aten::eye", "aten::tensor"};

/// A device that the source names is made by an op from a constant text.
std::optional<c10::IValue> constant_of(const Value& value) {
    const Node& maker = *value.node();
    if (std::string_view(maker.kind().toQualString()) != "aten::device" || maker.inputs().size() != 1) return torch::jit::toIValue(&value);
    const auto text = torch::jit::toIValue(maker.input());
    if (!text || !text->isString()) return std::nullopt;
    try {
        return c10::IValue(c10::Device(text->toStringRef()));
    } catch (const c10::Error&) {  // a name of no device, which its run would tell
        return std::nullopt;
    }
}

/// The argument of this name where it is a constant; nothing where it isn't, or isn't there.
std::optional<c10::IValue> constant_argument(const Node& node, std::string_view name) {
    const auto* schema = node.maybeSchema();
    if (schema == nullptr) return std::nullopt;
    const auto& arguments = schema->arguments();
    for (std::size_t i = 0; i < arguments.size() && i < node.inputs().size(); ++i)
        if (arguments[i].name() == name) return constant_of(*node.inputs()[i]);
    return std::nullopt;
}

/// In the author's own source: "net.py, line 9"; else the module's path.
std::string place_of(const Node& node, const std::string& path) {
    const auto own = node.sourceRange().findSourceRangeThatGenerated();
    const auto place = (own ? *own : node.sourceRange()).file_line_col();
    if (!place || std::get<0>(*place).empty()) return path.empty() ? "forward" : path;
    return std::filesystem::path(std::get<0>(*place)).filename().string() + ", line " + std::to_string(std::get<1>(*place));
}

std::optional<at::ScalarType> half_type(const Node& node) {
    const std::string_view kind = node.kind().toQualString();
    if (kind == "aten::half") return at::kHalf;
    if (kind == "aten::bfloat16") return at::kBFloat16;
    if (kind != "aten::to") return std::nullopt;
    const auto dtype = constant_argument(node, "dtype");
    if (!dtype || !dtype->isInt()) return std::nullopt;
    const auto type = static_cast<at::ScalarType>(dtype->toInt());
    return type == at::kHalf || type == at::kBFloat16 ? std::optional(type) : std::nullopt;
}

/// What is to be said about this node; empty: nothing.
std::string finding_of(const Node& node) {
    const std::string_view kind = node.kind().toQualString();
    if (const auto type = half_type(node))
        return std::string("casts to ") + (*type == at::kHalf ? "float16" : "bfloat16") + " itself, in mode no as well: leave the cast to autocast";
    const auto device = constant_argument(node, "device");
    const bool makes = makers.contains(kind);
    if (device && device->isDevice() && (makes || kind == "aten::to"))
        return "names the device " + device->toDevice().str() + ", which tracing or the source has fixed: use the device of an input, x.device" + std::string(makes ? "" : ", and script instead of trace");
    if (makes && device && device->isNone()) return "makes a tensor without a device, so on the CPU wherever the model is: add device=x.device";
    if (const auto training = constant_argument(node, "train"); kind.starts_with("aten::dropout") && training && training->isBool() && !training->toBool())
        return "is dropout that was traced in eval mode and stays off: call model.train() before tracing, or script it";
    if (const auto training = constant_argument(node, "training"); (kind == "aten::batch_norm" || kind == "aten::instance_norm") && training && training->isBool() && !training->toBool())
        return "is batch norm that was traced in eval mode and never updates its statistics: call model.train() before tracing, or script it";
    return "";
}

void search(const torch::jit::Block& block, const std::string& path, std::vector<std::string>& found) {
    for (const Node* node : block.nodes()) {
        if (const std::string text = finding_of(*node); !text.empty()) {
            std::string sentence = place_of(*node, path) + ": " + node->kind().toUnqualString() + " " + text;
            if (std::find(found.begin(), found.end(), sentence) == found.end()) found.push_back(std::move(sentence));
        }
        for (const torch::jit::Block* inner : node->blocks()) search(*inner, path, found);
    }
}

}  // namespace

std::vector<std::string> script_findings(const torch::jit::Module& module) {
    std::vector<std::string> found;
    for (const auto& part : module.named_modules()) {
        for (const auto& method : part.value.get_methods()) search(*method.graph()->block(), part.name, found);
    }
    return found;
}

}  // namespace mantissa
