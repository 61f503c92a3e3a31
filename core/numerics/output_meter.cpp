#include "numerics/output_meter.h"

#include <cmath>
#include <limits>

#include "numerics/dtype_names.h"

namespace mantissa {
namespace {

// max propagates NaN, so one value says it all: NaN, Inf or the largest magnitude.
double largest_magnitude(const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0 || !tensor.is_floating_point()) return 0;
    return tensor.detach().to(torch::kFloat).abs().max().item<double>();
}

}  // namespace

void OutputMeter::read(const std::string& module, const std::string& op,
                       const std::vector<torch::Tensor>& operands, const torch::Tensor& result) {
    const torch::NoGradGuard no_grad;
    const at::DisableRecordFunctionGuard unseen;
    OutputReading reading;
    reading.module = module;
    reading.op = op;
    reading.dtype = dtype_name(result.scalar_type());
    reading.largest = largest_magnitude(result);
    reading.finite = std::isfinite(reading.largest);
    reading.holds_nan = std::isnan(reading.largest);
    for (const torch::Tensor& operand : operands) {
        reading.operands_largest.push_back(largest_magnitude(operand));
        reading.operands_finite = reading.operands_finite && std::isfinite(reading.operands_largest.back());
    }
    m_readings.push_back(std::move(reading));
}

const OutputReading* OutputMeter::first_nonfinite() const {
    for (const OutputReading& reading : m_readings) {
        if (!reading.finite && reading.operands_finite) return &reading;
    }
    for (const OutputReading& reading : m_readings) {
        if (!reading.finite) return &reading;
    }
    return nullptr;
}

const OutputReading* OutputMeter::largest() const {
    const OutputReading* best = nullptr;
    for (const OutputReading& reading : m_readings) {
        if (!reading.finite) return first_nonfinite();
        if (best == nullptr || reading.largest > best->largest) best = &reading;
    }
    return best;
}

std::optional<double> headroom_bits(Precision format, const OutputMeter& meter) {
    const OutputReading* reading = meter.largest();
    if (reading == nullptr) return std::nullopt;
    if (!reading->finite) return -std::numeric_limits<double>::infinity();
    if (reading->largest == 0) return std::nullopt;
    return std::log2(largest_finite(format) / reading->largest);
}

}  // namespace mantissa
