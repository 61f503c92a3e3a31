#pragma once
// The largest value that one place computes in a step, wherever it lies: an op between two layers, in the loss, in a backward, in the
// update. Callbacks of torch while it lives; only the results of that place are read, so whole stretches of steps can be watched. One
// at a time in a process.
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "numerics/tensor_reading.h"

namespace mantissa {

/// As a birth names it (OpReading).
struct Place {
    std::string phase;   // forward loss backward unscale update
    std::string name;    // "loss.log"; of a backward: the forward op's
    std::string kernel;  // of a backward, what really ran; others count only where this one doesn't run
};

class PlaceMeter {
  public:
    PlaceMeter(Place place, const torch::nn::Module& model);
    ~PlaceMeter();
    PlaceMeter(const PlaceMeter&) = delete;
    PlaceMeter& operator=(const PlaceMeter&) = delete;

    /// "forward" (at the start), "loss", "update"; a backward and the scaler's unscaling are known without.
    void set_phase(const std::string& phase);
    /// NaN or Inf when it made one, else its largest magnitude; empty: it wasn't computed.
    [[nodiscard]] std::optional<double> value() const;

  private:
    struct Callbacks;
    struct Running {
        std::string op;
        std::size_t elements = 1;
        std::vector<std::size_t> chosen;  // of its elements
        std::vector<torch::Tensor> written;
        bool counts = false;              // else only its derivative is looked for
        std::int64_t first_sequence = -1;
    };
    [[nodiscard]] std::optional<Running> begin(const at::RecordFunction& function) const;
    void end(const at::RecordFunction& function, const Running& running);
    [[nodiscard]] bool is_derivative(const at::RecordFunction& node) const;
    [[nodiscard]] std::string module_of(const std::vector<torch::Tensor>& operands) const;

    Place m_place;
    mutable std::mutex m_mutex;  // protects all below
    std::string m_phase = "forward";
    std::unordered_map<const void*, std::string> m_module_of;  // of a parameter's storage
    std::vector<std::pair<std::int64_t, std::int64_t>> m_sequences;  // of the autograd nodes that the place made
    std::optional<double> m_of_kernel, m_of_others;
    at::CallbackHandle m_handle = 0;
};

}  // namespace mantissa
