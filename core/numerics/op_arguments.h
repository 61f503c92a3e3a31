#pragma once
// What a recorded call was given: TorchScript hands over the whole interpreter stack, lists hold one tensor per parameter.
#include <cstddef>
#include <string_view>
#include <vector>

#include "numerics/tensor_reading.h"

namespace mantissa {

class OpArguments {
  public:
    OpArguments(const at::RecordFunction& function, std::string_view op);

    /// Ops on lists ("_foreach_…", "_fused_…") are as many ops as the lists are long; 1 for all others.
    [[nodiscard]] std::size_t elements() const { return m_elements; }
    /// What is read, of that element; destinations of overwriting ops and a batch norm's statistics in training are not.
    [[nodiscard]] std::vector<torch::Tensor> operands(std::size_t element) const { return pick(element, false); }
    /// What is written in place.
    [[nodiscard]] std::vector<torch::Tensor> written(std::size_t element) const { return pick(element, true); }
    [[nodiscard]] const std::vector<double>& scalars() const { return m_scalars; }

  private:
    struct Argument {
        std::vector<torch::Tensor> tensors;
        bool is_list = false, is_read = true, is_written = false;
    };
    [[nodiscard]] std::vector<torch::Tensor> pick(std::size_t element, bool written) const;

    std::vector<Argument> m_arguments;
    std::vector<double> m_scalars;
    std::size_t m_elements = 1;
};

/// The results, without what lies below them on an interpreter's stack; of a list op, those of one element.
[[nodiscard]] std::vector<torch::Tensor> op_results(const at::RecordFunction& function, std::size_t element, std::size_t elements);

}  // namespace mantissa
