#include "numerics/tensor_extremes.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "numerics/tensor_record.h"
#include "numerics/value_blocks.h"

namespace mantissa {
namespace {

std::uint32_t saturated(double count) {
    constexpr double most = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(count, most));
}

float bounded(double magnitude) { return static_cast<float>(std::min<double>(magnitude, std::numeric_limits<float>::max())); }

bool is_plain_fp32(const torch::Tensor& tensor) {
    return tensor.scalar_type() == at::kFloat && tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
           tensor.is_non_overlapping_and_dense();
}

}  // namespace

TensorExtremes::TensorExtremes(const std::vector<torch::Tensor>& tensors, double factor) {
    const auto is_elsewhere = [](const torch::Tensor& tensor) { return tensor.defined() && !tensor.device().is_cpu(); };
    if (std::any_of(tensors.begin(), tensors.end(), is_elsewhere)) {
        m_packed = Readback(packed_extremes(tensors, factor));
        return;
    }
    m_largest.resize(tensors.size());
    m_nonfinite.resize(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const torch::Tensor& tensor = tensors[i];
        if (!tensor.defined() || tensor.numel() == 0) continue;
        if (!is_plain_fp32(tensor)) {
            const torch::Tensor packed = packed_extremes({tensor}, factor);
            m_largest[i] = bounded(packed.const_data_ptr<double>()[0]);
            m_nonfinite[i] = saturated(packed.const_data_ptr<double>()[1]);
            continue;
        }
        const blocks::Extreme extreme = blocks::extreme_of(tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
        m_largest[i] = bounded(std::bit_cast<float>(extreme.largest_bits) * static_cast<float>(factor));
        m_nonfinite[i] = saturated(static_cast<double>(extreme.nonfinite));
    }
}

void TensorExtremes::read() {
    if (m_packed.is_empty()) return;
    const Readback read = std::exchange(m_packed, {});
    const torch::Tensor& packed = read.values();
    const double* const values = packed.const_data_ptr<double>();
    for (std::int64_t i = 0; i < packed.size(1); ++i) {
        m_largest.push_back(bounded(values[i]));
        m_nonfinite.push_back(saturated(values[packed.size(1) + i]));
    }
}

std::vector<float>& TensorExtremes::largest() {
    read();
    return m_largest;
}

std::vector<std::uint32_t>& TensorExtremes::nonfinite() {
    read();
    return m_nonfinite;
}

torch::Tensor packed_extremes(const std::vector<torch::Tensor>& tensors, double factor) {
    const LookGuard guard;
    std::vector<torch::Tensor> largest, nonfinite;
    torch::Tensor zero;
    for (const torch::Tensor& tensor : tensors)
        if (tensor.defined()) zero = at::zeros({}, tensor.options().dtype(at::kDouble));
    for (const torch::Tensor& tensor : tensors) {
        if (!tensor.defined() || tensor.numel() == 0) {
            largest.push_back(zero);
            nonfinite.push_back(zero);
            continue;
        }
        const torch::Tensor values = c10::elementSize(tensor.scalar_type()) == 1 ? tensor.to(at::kFloat) : tensor.detach();
        const torch::Tensor is_finite = values.isfinite();
        largest.push_back(at::where(is_finite, values.abs(), at::zeros({}, values.options())).max().to(at::kDouble).mul(factor));
        nonfinite.push_back(is_finite.logical_not().sum().to(at::kDouble));
    }
    if (!zero.defined()) return at::zeros({2, static_cast<std::int64_t>(tensors.size())}, at::kDouble);
    return at::stack({at::stack(largest), at::stack(nonfinite)});
}

}  // namespace mantissa
