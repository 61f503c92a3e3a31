#pragma once
// Mode fp8: while a scope lives, linear layers compute in fp8, from C++ and TorchScript alike; everything else runs under bf16
// autocast, which is open around it. A linear layer is aten::linear, or addmm, matmul or mm whose right side is a weight (a parameter of
// a prepared model, or one that is trained) or its transpose. A layer whose sizes aren't multiples of 16 stays bf16, and is noted.
//
// How: kernels of these four ops for a dispatch key that nothing else uses, above autocast and below the fp32 islands, included in the
// thread's keys only while a scope lives. Where autocast is off (an island), they hand the call on. It goes with the work into
// TorchScript's forked threads.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

/// A linear layer that ran in the first step.
struct Fp8Layer {
    std::string module;  // where it ran; empty: nobody said
    std::int64_t in = 0, out = 0;
    bool is_fp8 = false;           // false: bf16, because a size is no multiple of 16
    const void* weight = nullptr;  // whose: a TensorImpl, for its name
};

struct DispatchScope;

class Fp8Layers {
  public:
    Fp8Layers();
    ~Fp8Layers();
    Fp8Layers(const Fp8Layers&) = delete;
    Fp8Layers& operator=(const Fp8Layers&) = delete;

    /// These are weights also where they are frozen.
    void know(const std::vector<at::Tensor>& parameters);
    /// Of the first step, in the order of computation, each once.
    [[nodiscard]] std::vector<Fp8Layer> seen() const;
    /// Nothing is noted from here on.
    void end_first_step();

  private:
    friend class Fp8Scope;
    struct State;
    std::shared_ptr<State> m_state;
};

/// Linear layers are fp8 in this thread until the end of the scope, where autocast is on.
class [[nodiscard]] Fp8Scope {
  public:
    explicit Fp8Scope(const Fp8Layers& layers);
    ~Fp8Scope();
    Fp8Scope(const Fp8Scope&) = delete;
    Fp8Scope& operator=(const Fp8Scope&) = delete;

  private:
    std::unique_ptr<DispatchScope> m_scope;
};

}  // namespace mantissa
