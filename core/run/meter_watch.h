#pragma once
// Connects the named places of a model with the meter that reads tensors (two parts that don't know each
// other).
#include "models/module_scope.h"
#include "numerics/output_meter.h"

namespace mantissa {

class MeterWatch : public OutputWatch {
  public:
    explicit MeterWatch(OutputMeter& meter) : m_meter(meter) {}
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                const torch::Tensor& result) override {
        m_meter.read(module, op, operands, result);
    }

  private:
    OutputMeter& m_meter;
};

}  // namespace mantissa
