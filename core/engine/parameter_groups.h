#pragma once
// "No decay on norms and biases": which parameters weight decay leaves alone. By the rule of transformers' Trainer: what a
// LayerNorm holds, whatever type says it is a norm by its name (layernorm, rmsnorm, norm, …_norm), and every bias; the other
// types of norm in torch::nn (batch, group, instance) are counted as norms too. Embeddings are decayed, as there.
#include <string>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

struct DecayGroups {
    std::vector<torch::Tensor> decayed, undecayed;
    std::vector<std::string> decayed_names, undecayed_names;
};

/// By the name alone ("encoder.layer_norm.weight", "head.bias"), for models whose types aren't known.
[[nodiscard]] bool is_spared_by_name(const std::string& parameter_name);
/// All parameters of the module, each in one of the two, in the module's order.
[[nodiscard]] DecayGroups no_decay_on_norms_and_biases(const torch::nn::Module& module);

}  // namespace mantissa
