#include "engine/script_paths.h"

#include <algorithm>
#include <functional>

#include "engine/module_scope.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

thread_local const ScriptPaths* t_paths = nullptr;

std::string joined(const std::string& parent, const std::string& name) {
    return parent.empty() || name.empty() ? parent + name : parent + "." + name;
}

// "blocks.0" of self.blocks[0]; empty for self and for what isn't reached from it.
std::string chain_from_self(const torch::jit::Value* receiver) {
    std::string chain;
    const torch::jit::Node* node = receiver->node();
    while (node->kind() == c10::prim::GetAttr) {
        chain = joined(node->s(c10::attr::name), chain);
        node = node->input()->node();
    }
    return chain;
}

void each_call(const torch::jit::Block& block, const std::function<void(const std::string&)>& found) {
    for (const torch::jit::Node* node : block.nodes()) {
        if (node->kind() == c10::prim::CallMethod) {
            if (const std::string chain = chain_from_self(node->input(0)); !chain.empty()) found(chain);
        }
        for (const torch::jit::Block* inner : node->blocks()) {
            each_call(*inner, found);
        }
    }
}

// Of "gate(Gate)::forward"; empty for the top module, for a method of the same module and for a function.
std::string name_of(const std::string& frame) {
    const std::string name = frame.substr(0, frame.find('('));
    return name == "TOP" || name == "SELF" || name.starts_with("CALL_FUNCTION") ? "" : name;
}

}  // namespace

ScriptPaths::ScriptPaths(const torch::jit::Module& script) {
    for (const auto& module : script.named_modules()) {
        for (const torch::jit::Method& method : module.value.get_methods()) {
            each_call(*method.graph()->block(), [&](const std::string& chain) {
                const std::string last = chain.substr(chain.rfind('.') + 1), path = joined(module.name, chain);
                auto& paths = m_called[module.name][last];
                if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
                    paths.push_back(path);
                }
            });
        }
    }
}

std::vector<std::string> ScriptPaths::resolve(const std::vector<std::string>& frames) const {
    std::vector<std::string> paths{""};
    for (const std::string& frame : frames) {
        const std::string name = name_of(frame);
        if (name.empty()) {
            continue;
        }
        std::vector<std::string> next;
        for (const std::string& parent : paths) {
            if (const auto called = m_called.find(parent); called != m_called.end() && called->second.contains(name)) {
                const auto& known = called->second.at(name);
                next.insert(next.end(), known.begin(), known.end());
            }
        }
        if (next.empty()) {  // not called by name: an interface, say
            for (const std::string& parent : paths) next.push_back(joined(parent, name));
        }
        paths = std::move(next);
    }
    return paths;
}

ScriptPathsScope::ScriptPathsScope(const ScriptPaths& paths) : m_previous(t_paths) { t_paths = &paths; }
ScriptPathsScope::~ScriptPathsScope() { t_paths = m_previous; }

std::vector<std::string> current_module_paths() {
    static const ScriptPaths unknown{torch::jit::Module("unknown")};
    const std::vector<std::string> frames = torch::jit::currentModuleHierarchy();
    if (frames.empty()) {
        return {ModuleScope::current()};
    }
    std::vector<std::string> paths = (t_paths != nullptr ? *t_paths : unknown).resolve(frames);
    for (std::string& path : paths) path = joined(ModuleScope::current(), path);
    return paths;
}

}  // namespace mantissa
