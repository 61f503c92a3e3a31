#pragma once
// Objects that prepare() knows and refuses at compile time: torch's own optimizers, schedulers and loaders keep references to raw
// objects, and know neither skipped steps nor accumulation windows.
#include <memory>
#include <type_traits>

#include "engine/loss_scaler.h"

namespace mantissa {

template <typename T>
struct Pointee {
    using Type = T;
};
template <typename T>
struct Pointee<T*> {
    using Type = T;
};
template <typename T, typename D>
struct Pointee<std::unique_ptr<T, D>> {
    using Type = T;
};
template <typename T>
struct Pointee<std::shared_ptr<T>> {
    using Type = T;
};
template <typename T>
using Meant = std::remove_cv_t<typename Pointee<std::remove_cvref_t<T>>::Type>;

template <typename D, typename B, typename R>
std::true_type derives_from_torch_loader(const torch::data::DataLoaderBase<D, B, R>*);
std::false_type derives_from_torch_loader(const void*);

template <typename T>
inline constexpr bool is_torch_optimizer = std::is_base_of_v<torch::optim::Optimizer, Meant<T>>;
template <typename T>
inline constexpr bool is_torch_scheduler = std::is_base_of_v<torch::optim::LRScheduler, Meant<T>> ||
                                           std::is_base_of_v<torch::optim::ReduceLROnPlateauScheduler, Meant<T>>;
template <typename T>
inline constexpr bool is_torch_loader = decltype(derives_from_torch_loader(static_cast<Meant<T>*>(nullptr)))::value;
template <typename T>
inline constexpr bool is_loss_scaler = std::is_same_v<Meant<T>, LossScaler>;
/// A module that is no holder and no pointer: prepare() could only copy it.
template <typename T>
inline constexpr bool is_bare_module = std::is_base_of_v<torch::nn::Module, std::remove_cvref_t<T>>;

/// One sentence per kind, at the line that gave the object to prepare().
template <typename T>
constexpr void refuse_foreign_object() {
    static_assert(!is_torch_optimizer<T>,
                  "prepare() was given a torch::optim optimizer: make it with mantissa::sgd, adam or adamw, whose state a move keeps");
    static_assert(!is_torch_scheduler<T>,
                  "prepare() was given a torch learning-rate scheduler, which keeps a reference to the raw optimizer: "
                  "make it with mantissa::step_lr, linear_lr, cosine_lr, one_cycle_lr …");
    static_assert(!is_torch_loader<T>,
                  "prepare() was given a torch::data loader: put its batches into a mantissa::BatchSource and wrap that in mantissa::Loader");
    static_assert(!is_loss_scaler<T>,
                  "prepare() was given a LossScaler: the Accelerator has its own, set it up with AcceleratorOptions::loss_scale");
    static_assert(!is_bare_module<T>,
                  "prepare() was given a module by value: hold it in a std::shared_ptr or in its TORCH_MODULE holder");
}

}  // namespace mantissa
