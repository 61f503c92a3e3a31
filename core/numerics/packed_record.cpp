// The device-neutral form of a tensor's record: ATen operations only, nothing is read by the host before all of it is.
#include <array>
#include <numeric>

#include "numerics/device_counter.h"
#include "numerics/packed_layout.h"
#include "numerics/record_parts.h"
#include "numerics/tensor_record.h"

namespace mantissa {
namespace {

DeviceCounter& device_counter() {
    static DeviceCounter counter = nullptr;
    return counter;
}

}  // namespace

void count_on_device_by(DeviceCounter counter) { device_counter() = counter; }

}  // namespace mantissa

namespace mantissa::packed_record {
namespace {

using namespace packed_layout;
static_assert(places_per_exponent == 2 * bins_per_exponent && exponents * bins_per_exponent == histogram_bins);
constexpr std::int64_t piece = 1 << 22;  // of keys at a time: they take eight bytes each, and so does what they are made of

/// One-dimensional and of fp32, or of fp64 where the tensor is.
torch::Tensor flat_values(const torch::Tensor& tensor, double factor) {
    const bool is_double = tensor.scalar_type() == at::kDouble;
    torch::Tensor values = tensor.detach().to(is_double ? at::kDouble : at::kFloat).reshape({-1});
    if (factor != 1) values = is_double ? values.mul(factor) : values.mul(static_cast<float>(factor));
    return values.contiguous();
}

/// Places of counts from an exponent (0 for the value 0, 1 for 2^-149) and a mantissa of so many bits.
torch::Tensor keys_of(const torch::Tensor& exponent, const torch::Tensor& mantissa, int bits) {
    const std::int64_t all = (std::int64_t{1} << bits) - 1;
    torch::Tensor bin = exponent.mul(bins_per_exponent).add(mantissa.bitwise_right_shift(bits - 4));
    for (const int below_two : {7, 8, 10, 11}) bin.add_(mantissa.gt(all - (std::int64_t{1} << (bits - below_two))));
    return bin.mul_(2).add_(mantissa.bitwise_and(all >> 4).ne(0));
}

torch::Tensor keys_of_floats(const torch::Tensor& values) {
    const torch::Tensor bits = values.view(at::kInt).bitwise_and(0x7FFFFFFF);
    // The bits of a subnormal number, as a number: a float that is normalised.
    const torch::Tensor numbers = bits.clamp_max(0x7F'FFFF).to(at::kFloat).view(at::kInt);
    const torch::Tensor is_normal = bits.ge(0x80'0000);
    const torch::Tensor exponent = at::where(is_normal, bits.bitwise_right_shift(23).add(23), numbers.bitwise_right_shift(23).sub(126).clamp_min(0));
    const torch::Tensor mantissa = at::where(is_normal, bits, numbers).bitwise_and(0x7F'FFFF);
    return keys_of(exponent, mantissa, 23).to(at::kLong);
}

torch::Tensor keys_of_doubles(const torch::Tensor& values) {
    const torch::Tensor size = values.abs(), bits = size.view(at::kLong);
    const torch::Tensor exponent = bits.bitwise_right_shift(52).sub(1023 + lowest_bin_exponent - 1);
    torch::Tensor keys = keys_of(exponent, bits.bitwise_and((std::int64_t{1} << 52) - 1), 52);
    const auto constant = [&bits](std::int64_t key) { return at::scalar_tensor(key, bits.options()); };
    keys = at::where(size.lt(0x1p-149), constant(first_bin + 1), keys);
    keys = at::where(size.eq(0), constant(zeros), keys);
    keys = at::where(size.ge(0x1p128), constant(infinities - 1), keys);
    keys = at::where(size.isinf(), constant(infinities), keys);
    return at::where(values.isnan(), constant(infinities + 1), keys);
}

torch::Tensor key_counts(const torch::Tensor& values) {
    torch::Tensor counts = at::zeros({counts_end}, values.options().dtype(at::kLong));
    for (std::int64_t first = 0; first < values.numel(); first += piece) {
        const torch::Tensor part = values.slice(0, first, std::min(first + piece, values.numel()));
        const torch::Tensor keys = part.scalar_type() == at::kDouble ? keys_of_doubles(part) : keys_of_floats(part);
        counts.index_add_(0, keys, at::ones_like(keys));
    }
    return counts;
}

torch::Tensor packed(const torch::Tensor& values, const torch::Tensor& asked_count, const torch::Tensor& unmoved_count) {
    const auto options = values.options().dtype(at::kDouble);
    if (values.numel() == 0) return at::zeros({figures + counts_end}, options);
    if (device_counter() != nullptr && values.is_cuda() && values.scalar_type() == at::kFloat) {
        torch::Tensor row = device_counter()(values);
        if (asked_count.defined()) row.slice(0, asked, unmoved + 1).copy_(at::stack({asked_count, unmoved_count}));
        return row;
    }
    const torch::Tensor zero = at::scalar_tensor(0.0, options), one = at::scalar_tensor(1.0, options);
    const torch::Tensor is_finite = values.isfinite();
    const torch::Tensor finite = at::where(is_finite, values, at::scalar_tensor(0.0, values.options())).to(at::kDouble), size = finite.abs();
    std::array<torch::Tensor, figures> all;
    all[negative] = finite.lt(0).sum();
    all[neg_inf] = values.eq(-std::numeric_limits<double>::infinity()).sum();
    all[largest] = size.max();
    all[smallest] = at::where(size.eq(0), at::scalar_tensor(std::numeric_limits<double>::infinity(), options), size).min();
    const torch::Tensor is_extreme = all[largest].gt(0x1p400).logical_or(all[largest].gt(0).logical_and(all[largest].lt(0x1p-400)));
    all[unit] = at::where(is_extreme, all[largest], one);
    const torch::Tensor scaled = finite.div(all[unit]);
    all[sum] = scaled.sum();
    all[magnitude] = scaled.abs().sum();
    all[square] = scaled.square().sum();
    const bool is_double = values.scalar_type() == at::kDouble;
    all[subnormal_doubles] = is_double ? size.gt(0).logical_and(size.lt(std::numeric_limits<double>::min())).sum() : zero;
    all[asked] = asked_count.defined() ? asked_count : zero;
    all[unmoved] = unmoved_count.defined() ? unmoved_count : zero;
    for (torch::Tensor& one_figure : all) one_figure = one_figure.to(at::kDouble);
    return at::cat({at::stack(at::TensorList(all)), key_counts(values).to(at::kDouble)});
}

/// For record_parts::fill_from_counts.
struct PackedCounts {
    const double* counts;
    [[nodiscard]] std::uint64_t at(std::int64_t place) const { return static_cast<std::uint64_t>(counts[place]); }
    [[nodiscard]] std::uint64_t zero() const { return at(zeros); }
    [[nodiscard]] std::uint64_t infinite() const { return at(infinities); }
    [[nodiscard]] std::uint64_t nan() const {
        return static_cast<std::uint64_t>(std::accumulate(counts + infinities + 1, counts + counts_end, 0.0));
    }
    [[nodiscard]] record_parts::BinCount of(std::uint32_t bin, bool tells_edge) const {
        const std::int64_t place = first_bin + 2 * std::int64_t{bin};
        return {tells_edge ? at(place) : 0, at(place + 1)};
    }
};

}  // namespace

torch::Tensor pack(const torch::Tensor& tensor, double factor) { return packed(flat_values(tensor, factor), {}, {}); }

torch::Tensor pack_update(const torch::Tensor& before, const torch::Tensor& after, const torch::Tensor& gradient) {
    const torch::Tensor from = flat_values(before, 1), to = flat_values(after, 1), wish = flat_values(gradient, 1);
    const torch::Tensor is_asked = wish.isfinite().logical_and(wish.ne(0));
    const auto bits = [](const torch::Tensor& values) { return values.view(values.scalar_type() == at::kDouble ? at::kLong : at::kInt); };
    const torch::Tensor is_unmoved = is_asked.logical_and(bits(to).eq(bits(from)));
    return packed(to.sub(from), is_asked.sum(), is_unmoved.sum());
}

void unpack(const torch::Tensor& packed, at::ScalarType type, TensorStatRow& row) {
    const double* const values = packed.const_data_ptr<double>();
    const auto count = [values](Figure figure) { return static_cast<std::int64_t>(values[figure]); };
    row.negative = count(negative);
    row.neg_inf = count(neg_inf);
    row.largest = values[largest];
    row.smallest_nonzero = row.largest > 0 ? values[smallest] : 0;
    record_parts::fill_from_counts(row, type, static_cast<std::uint64_t>(count(subnormal_doubles)),
                                   PackedCounts{values + figures});
    record_parts::fill_means(row, values[sum], values[magnitude], values[square], values[unit]);
    if (values[asked] > 0) row.unmoved = values[unmoved] / values[asked];
}

}  // namespace mantissa::packed_record
