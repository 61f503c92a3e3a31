#pragma once
// Largest |output| and finiteness of every named place of a model in one forward pass: headroom of the trial,
// and the name of the place that made the first non-finite value.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "torch_pch.h"

namespace mantissa {

struct OutputReading {
    std::string module, op;  // op empty: the output of the whole module
    std::string dtype;
    double largest = 0;  // of |output|; Inf or NaN when it isn't finite
    bool finite = true, holds_nan = false;
    bool operands_finite = true;
    std::vector<double> operands_largest;  // of each operand
};

class OutputMeter {
  public:
    void read(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
              const torch::Tensor& result);

    [[nodiscard]] const std::vector<OutputReading>& readings() const { return m_readings; }
    /// The first place that turned finite operands into a result that isn't; else the first non-finite one at
    /// all.
    [[nodiscard]] const OutputReading* first_nonfinite() const;
    /// The place with the largest |output| (design §10: headroom counts the output of any module).
    [[nodiscard]] const OutputReading* largest() const;

  private:
    std::vector<OutputReading> m_readings;
};

/// log2(largest finite value of the format / largest |output|); -inf when an output isn't finite.
[[nodiscard]] std::optional<double> headroom_bits(Precision format, const OutputMeter& meter);

}  // namespace mantissa
