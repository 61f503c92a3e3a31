#include "engine/fp8_layers.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "engine/dispatch_scope.h"
#include "engine/fp8_linear.h"
#include "engine/script_paths.h"

namespace mantissa {
namespace {

using at::Tensor;
using c10::DispatchKey;
constexpr DispatchKey layer_key = DispatchKey::DeferredInit;  // of a program outside of LibTorch that is no part of this one
constexpr auto fp8_state_kind = c10::DebugInfoKind::TEST_INFO;  // travels with the dispatch keys of a thread

Tensor base_of(const Tensor& tensor) { return tensor.is_view() ? Tensor(tensor._base()) : tensor; }

// As autocast: what is fp64, complex or whole numbers is left alone.
bool is_cast(const Tensor& tensor) {
    const at::ScalarType type = tensor.scalar_type();
    return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
}

bool fits(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
    return weight.dim() == 2 && weight.numel() > 0 && weight.device() == input.device() && is_cast(input) && is_cast(weight) &&
           input.dim() > 0 && input.numel() > 0 && input.size(-1) == weight.size(1) &&
           (!bias || !bias->defined() || (is_cast(*bias) && bias->dim() == 1 && bias->size(0) == weight.size(0)));
}

c10::DispatchKeySet keys_below(c10::DispatchKeySet keys) {
    return keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, layer_key);
}

}  // namespace

struct Fp8Layers::State : c10::DebugInfoBase {
    /// Null where nothing is fp8: outside of all scopes, and in an fp32 island.
    static State* of(const Tensor& input) {
        auto* state = static_cast<State*>(c10::ThreadLocalDebugInfo::get(fp8_state_kind));
        const bool is_known = input.is_cpu() || input.is_cuda();
        return is_known && at::autocast::is_autocast_enabled(input.device().type()) ? state : nullptr;
    }

    [[nodiscard]] bool is_weight(const Tensor& tensor) {
        if (tensor.is_leaf() && tensor.requires_grad()) return true;
        const std::shared_lock lock(mutex);
        const auto found = weights.find(tensor.unsafeGetTensorImpl());
        return found != weights.end() && !found->second.expired();
    }

    /// The weight (out, in) of a product with `right`; undefined where that is no weight.
    Tensor weight_in(const Tensor& right) {
        if (right.dim() != 2) return {};
        const Tensor base = base_of(right);
        return base.dim() == 2 && base.numel() == right.numel() && is_weight(base) ? right.t() : Tensor();
    }

    [[nodiscard]] bool computes(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
        if (!weight.defined() || !fits(input, weight, bias)) return false;
        const bool is_fp8 = weight.size(0) % fp8_multiple == 0 && weight.size(1) % fp8_multiple == 0;
        if (is_first_step) note(weight, is_fp8);
        return is_fp8;
    }

    void note(const Tensor& weight, bool is_fp8) {
        const Fp8Layer layer{current_module_paths().front(), weight.size(1), weight.size(0), is_fp8, base_of(weight).unsafeGetTensorImpl()};
        const std::unique_lock lock(mutex);
        const auto is_same = [&](const Fp8Layer& one) { return one.module == layer.module && one.weight == layer.weight; };
        if (std::none_of(seen.begin(), seen.end(), is_same)) seen.push_back(layer);
    }

    static Tensor linear(c10::DispatchKeySet keys, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
        State* state = of(input);
        return state != nullptr && state->computes(input, weight, bias) ? fp8_linear(input, weight, bias)
                                                                         : at::_ops::linear::redispatch(keys_below(keys), input, weight, bias);
    }

    static Tensor addmm(c10::DispatchKeySet keys, const Tensor& bias, const Tensor& input, const Tensor& right, const at::Scalar& beta,
                        const at::Scalar& alpha) {
        State* state = beta.equal(1) && alpha.equal(1) ? of(input) : nullptr;
        const Tensor weight = state != nullptr ? state->weight_in(right) : Tensor();
        return state != nullptr && state->computes(input, weight, bias)
                   ? fp8_linear(input, weight, bias)
                   : at::_ops::addmm::redispatch(keys_below(keys), bias, input, right, beta, alpha);
    }

    // matmul and mm.
    template <typename Op>
    static Tensor product(c10::DispatchKeySet keys, const Tensor& input, const Tensor& right) {
        State* state = of(input);
        const Tensor weight = state != nullptr ? state->weight_in(right) : Tensor();
        return state != nullptr && state->computes(input, weight, std::nullopt) ? fp8_linear(input, weight, std::nullopt)
                                                                                 : Op::redispatch(keys_below(keys), input, right);
    }

    static void register_kernels() {
        static torch::Library ops(torch::Library::IMPL, "aten", layer_key, __FILE__, __LINE__);
        static torch::Library others(torch::Library::IMPL, "_", layer_key, __FILE__, __LINE__);
        others.fallback(torch::CppFunction::makeFallthrough());
        ops.impl("linear", torch::CppFunction(&linear));
        ops.impl("addmm", torch::CppFunction(&addmm));
        ops.impl("matmul", torch::CppFunction(&product<at::_ops::matmul>));
        ops.impl("mm", torch::CppFunction(&product<at::_ops::mm>));
    }

    std::atomic<bool> is_first_step{true};
    std::shared_mutex mutex;  // protects what is below
    std::vector<Fp8Layer> seen;
    std::unordered_map<const void*, c10::weak_intrusive_ptr<c10::TensorImpl>> weights;  // an address may be given out again
};

Fp8Layers::Fp8Layers() : m_state(std::make_shared<State>()) {
    // Once, and only in a process that trains in fp8.
    static const bool is_registered = (State::register_kernels(), true);
    static_cast<void>(is_registered);
}

Fp8Layers::~Fp8Layers() = default;

void Fp8Layers::know(const std::vector<at::Tensor>& parameters) {
    const std::unique_lock lock(m_state->mutex);
    for (const Tensor& one : parameters) {
        m_state->weights.insert_or_assign(one.unsafeGetTensorImpl(), c10::weak_intrusive_ptr<c10::TensorImpl>(one.getIntrusivePtr()));
    }
}

std::vector<Fp8Layer> Fp8Layers::seen() const {
    const std::shared_lock lock(m_state->mutex);
    return m_state->seen;
}

void Fp8Layers::end_first_step() { m_state->is_first_step = false; }

Fp8Scope::Fp8Scope(const Fp8Layers& layers) : m_scope(std::make_unique<DispatchScope>(fp8_state_kind, layers.m_state, layer_key)) {}
Fp8Scope::~Fp8Scope() = default;

}  // namespace mantissa
