#include "checkpoint/checkpoint_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace mantissa {
namespace {

// In a fixed order, so that two checkpoints of the same objects have the same lists.
template <typename CheckpointType, typename Visit>
void for_each_list(CheckpointType& checkpoint, Visit&& visit) {
    for (auto& model : checkpoint.models) visit(model);
    for (auto* bundles : {&checkpoint.optimizers, &checkpoint.schedulers, &checkpoint.loaders, &checkpoint.objects}) {
        for (auto& bundle : *bundles) visit(bundle.tensors);
    }
    visit(checkpoint.accelerator.tensors);
    visit(checkpoint.random_states);
}

torch::Tensor host_memory_like(const torch::Tensor& tensor) {
    void* memory = std::malloc(std::max<std::size_t>(tensor.nbytes(), 1));
    if (memory == nullptr) throw std::bad_alloc();
    return torch::from_blob(memory, tensor.sizes(), [](void* used) { std::free(used); }, tensor.options().device(at::kCPU));
}

bool fits(const std::pair<std::string, torch::Tensor>& copy, const std::pair<std::string, torch::Tensor>& live) {
    return copy.first == live.first && copy.second.scalar_type() == live.second.scalar_type() &&
           copy.second.sizes() == live.second.sizes();
}

void copy_values(const torch::Tensor& from, const torch::Tensor& to) {
    if (from.is_cpu() && from.is_contiguous() && !from.is_neg()) {
        std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
    } else {
        to.copy_(from);
    }
}

}  // namespace

std::int64_t tensor_bytes(const Checkpoint& checkpoint) {
    std::int64_t bytes = 0;
    for_each_list(checkpoint, [&bytes](const auto& list) {
        for (const auto& [name, tensor] : list) bytes += static_cast<std::int64_t>(tensor.nbytes());
    });
    return bytes;
}

void copy_tensors(Checkpoint& checkpoint, Checkpoint former) {
    const torch::NoGradGuard no_grad;
    std::vector<NamedTensors*> unused;
    for_each_list(former, [&unused](auto& list) { unused.push_back(&list); });
    std::size_t number = 0;
    for_each_list(checkpoint, [&](auto& list) {
        NamedTensors* copies = number < unused.size() ? unused[number] : nullptr;
        ++number;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const bool is_there = copies != nullptr && i < copies->size() && fits((*copies)[i], list[i]);
            const torch::Tensor copy = is_there ? (*copies)[i].second : host_memory_like(list[i].second);
            copy_values(list[i].second, copy);
            list[i].second = copy;
        }
    });
}

}  // namespace mantissa
