#pragma once
// Names the op in which a bad value was born (design §7). Armed from construction to destruction, it sees every outermost op of
// this thread, forward, backward and update, with the level of what went in and of what came out: finite, Inf, NaN. The story is
// then told backwards from one bad tensor along the data flow. It reads every tensor, so it is for one step that is done again.
// One at a time in a process.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

struct Birth {
    std::string phase;   // data parameter buffer forward loss backward unscale update
    std::string module;  // place in the model; from the weight that took part where no place was told; may be empty
    std::string op;      // aten name without namespace and trailing _; in a backward: the forward op whose derivative it is
    std::string kernel;  // the op that really ran ("div" in the derivative of "log")
    std::string tensor;  // the leaf that was bad from the start, for phases data, parameter and buffer
    std::string dtype;   // of the result
    std::string code;    // a verdict code: log_of_zero zero_over_zero inf_minus_inf root_at_zero masked_row adam_eps
                         // activation_overflow bad_input unknown
    std::vector<double> operands;  // largest magnitude of each tensor that went in
    double smallest_operand = 0;   // smallest magnitude of the last of them (a divisor, what a logarithm saw)
    double result = 0;             // Inf or NaN

    /// "gate.mul"; the leaf's name for a leaf.
    [[nodiscard]] std::string place() const;
};

class BirthFinder {
  public:
    BirthFinder();
    ~BirthFinder();
    BirthFinder(const BirthFinder&) = delete;
    BirthFinder& operator=(const BirthFinder&) = delete;

    /// What a story may begin with; `phase` is data, parameter, buffer, or unscale for a loss scale.
    void name(const torch::Tensor& leaf, const std::string& name, const std::string& phase);
    void name_tensors_of(const torch::nn::Module& module);
    /// "forward" (at the start), "loss", "update"; ops of a backward are known without.
    void set_phase(const std::string& phase);
    /// Asked for the path of the module that computes.
    void set_place(std::function<std::string()> place);

    /// Where the bad values of this tensor come from; empty when it holds none, or when nothing that was seen made them.
    [[nodiscard]] std::optional<Birth> cause_of(const torch::Tensor& bad) const;
    /// The same for the first bad gradient of the module's parameters.
    [[nodiscard]] std::optional<Birth> cause_of_gradients(const torch::nn::Module& module) const;
    /// A fault inside a callback, which torch swallows; empty when all went well.
    [[nodiscard]] std::string callback_error() const;

    struct State;

  private:
    std::unique_ptr<State> m_state;
};

}  // namespace mantissa
