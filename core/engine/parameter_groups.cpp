#include "engine/parameter_groups.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace mantissa {
namespace {

template <typename... Norms>
bool is_one_of(const torch::nn::Module& module) {
    return ((dynamic_cast<const Norms*>(&module) != nullptr) || ...);
}

bool is_norm(const torch::nn::Module& module) {
    namespace nn = torch::nn;
    return is_one_of<nn::LayerNormImpl, nn::GroupNormImpl, nn::BatchNorm1dImpl, nn::BatchNorm2dImpl, nn::BatchNorm3dImpl,
                     nn::InstanceNorm1dImpl, nn::InstanceNorm2dImpl, nn::InstanceNorm3dImpl>(module);
}

std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

using Seen = std::unordered_set<const c10::TensorImpl*>;

// A tied weight counts where it is met first.
void collect(const torch::nn::Module& module, const std::string& prefix, bool inside_norm, DecayGroups& groups, Seen& seen) {
    const bool is_spared = inside_norm || is_norm(module);
    for (const auto& entry : module.named_parameters(/*recurse=*/false)) {
        if (!seen.insert(entry.value().unsafeGetTensorImpl()).second) {
            continue;
        }
        const std::string name = prefix + entry.key();
        const bool undecayed = is_spared || is_spared_by_name(name);
        (undecayed ? groups.undecayed : groups.decayed).push_back(entry.value());
        (undecayed ? groups.undecayed_names : groups.decayed_names).push_back(name);
    }
    for (const auto& child : module.named_children()) {
        collect(*child.value(), prefix + child.key() + ".", is_spared, groups, seen);
    }
}

}  // namespace

bool is_spared_by_name(const std::string& parameter_name) {
    const std::string name = lowered(parameter_name);
    for (const char* part : {"bias", "layernorm", "rmsnorm"}) {
        if (name.find(part) != std::string::npos) {
            return true;
        }
    }
    // A component that is "norm" or ends in "_norm".
    std::size_t start = 0;
    while (start <= name.size()) {
        const std::size_t end = std::min(name.find('.', start), name.size());
        const std::string component = name.substr(start, end - start);
        if (component == "norm" || component.ends_with("_norm")) {
            return true;
        }
        start = end + 1;
    }
    return false;
}

DecayGroups no_decay_on_norms_and_biases(const torch::nn::Module& module) {
    DecayGroups groups;
    Seen seen;
    collect(module, "", false, groups, seen);
    return groups;
}

}  // namespace mantissa
