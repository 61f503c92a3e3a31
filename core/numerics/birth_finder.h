#pragma once
// Names the op in which a bad value was born (design §7). Armed from construction to destruction, it sees every outermost op,
// forward, backward and update, with what went in and what came out: finite, Inf, NaN. The story is then told backwards from one bad
// tensor along the data flow. It reads every tensor (level 3), so it is for one step that is done again. One at a time in a process.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "numerics/tensor_reading.h"

namespace mantissa {

class BirthFinder {
  public:
    BirthFinder();
    ~BirthFinder();
    BirthFinder(const BirthFinder&) = delete;
    BirthFinder& operator=(const BirthFinder&) = delete;

    /// What a story may begin with; `phase` is data, parameter, buffer, or unscale for a loss scale. Read here: as the step found it.
    void name(const torch::Tensor& leaf, const std::string& name, const std::string& phase);
    /// Parameters and buffers. An Inf in a buffer may be a mask that somebody meant; where it is known which buffers held one when the
    /// run began, only those are. A batch norm's statistics never are.
    void name_tensors_of(const torch::nn::Module& module, const std::optional<std::vector<std::string>>& meant = std::nullopt);
    /// "forward" (at the start), "loss", "update"; ops of a backward and of the scaler's unscaling are known without.
    void set_phase(const std::string& phase);
    /// Asked for the path of the module that computes; without: our layers' and TorchScript's own (engine/script_paths.h).
    void set_place(std::function<std::string()> place);
    /// By which the backward is scaled. While it looks for its place, an Inf in a scaled gradient is no birth.
    void set_loss_scale(double scale, bool is_probing);

    /// Where the bad values of this tensor come from; empty when it holds none, or when nothing that was seen made them.
    [[nodiscard]] std::optional<BirthReport> cause_of(const torch::Tensor& bad) const;
    /// The same for the first bad gradient of the module's parameters, and for its first bad parameter after an update.
    [[nodiscard]] std::optional<BirthReport> cause_of_gradients(const torch::nn::Module& module) const;
    [[nodiscard]] std::optional<BirthReport> cause_of_parameters(const torch::nn::Module& module) const;
    /// The first output of a forward pass that left its format, though the loss may be finite.
    [[nodiscard]] std::optional<BirthReport> hidden_overflow() const;
    /// Every outermost op so far, in order.
    [[nodiscard]] std::vector<OpReading> ops() const;
    /// A fault inside a callback, which torch swallows; empty when all went well.
    [[nodiscard]] std::string callback_error() const;

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace mantissa
