// The device-neutral form of a tensor's record: ATen operations only, nothing is read by the host before all of it is.
#include <array>
#include <bit>

#include "numerics/record_parts.h"
#include "numerics/tensor_record.h"

namespace mantissa::packed_record {
namespace {

enum Figure { negative, neg_inf, largest, smallest, sum, magnitude, square, unit, subnormal_doubles, asked, unmoved, figures };
constexpr std::int64_t piece = 1 << 24;  // of keys at a time: they take eight bytes each

/// One-dimensional and of fp32, or of fp64 where the tensor is.
torch::Tensor flat_values(const torch::Tensor& tensor, double factor) {
    const bool is_double = tensor.scalar_type() == at::kDouble;
    torch::Tensor values = tensor.detach().to(is_double ? at::kDouble : at::kFloat).reshape({-1});
    if (factor != 1) values = is_double ? values.mul(factor) : values.mul(static_cast<float>(factor));
    return values.contiguous();
}

torch::Tensor keys_of_floats(const torch::Tensor& values) {
    const torch::Tensor bits = values.view(at::kInt).bitwise_and(0x7FFFFFFF);
    return bits.bitwise_right_shift(19).mul(2).add(bits.bitwise_and(0x7FFFF).ne(0)).to(at::kLong);
}

/// record_parts::key_of_double, in tensors.
torch::Tensor keys_of_doubles(const torch::Tensor& values) {
    const torch::Tensor size = values.abs(), bits = size.view(at::kLong);
    const torch::Tensor normal = bits.bitwise_right_shift(48).sub(std::int64_t{1023 - 127} * 16).mul(2)
                                     .add(bits.bitwise_and(0xFFFF'FFFF'FFFFLL).ne(0));
    const torch::Tensor units = at::where(size.lt(0x1p-126), size, 0.0).mul(0x1p149), whole = units.floor();
    const torch::Tensor count = whole.to(at::kLong);
    const torch::Tensor low = count.bitwise_right_shift(19).mul(2).add(count.bitwise_and(0x7FFFF).ne(0).logical_or(units.ne(whole)));
    const auto constant = [&bits](std::int64_t key) { return at::scalar_tensor(key, bits.options()); };
    torch::Tensor keys = at::where(size.lt(0x1p-126), low, normal);
    keys = at::where(size.ge(0x1p128), constant(blocks::infinity_key - 1), keys);
    keys = at::where(size.isinf(), constant(blocks::infinity_key), keys);
    return at::where(values.isnan(), constant(blocks::infinity_key + 1), keys);
}

torch::Tensor key_counts(const torch::Tensor& values) {
    torch::Tensor counts = at::zeros({static_cast<std::int64_t>(blocks::key_limit)}, values.options().dtype(at::kLong));
    for (std::int64_t first = 0; first < values.numel(); first += piece) {
        const torch::Tensor part = values.slice(0, first, std::min(first + piece, values.numel()));
        const torch::Tensor keys = part.scalar_type() == at::kDouble ? keys_of_doubles(part) : keys_of_floats(part);
        counts.index_add_(0, keys, at::ones_like(keys));
    }
    return counts;
}

torch::Tensor packed(const torch::Tensor& values, const torch::Tensor& asked_count, const torch::Tensor& unmoved_count) {
    const auto options = values.options().dtype(at::kDouble);
    if (values.numel() == 0) return at::zeros({figures + static_cast<std::int64_t>(blocks::key_limit)}, options);
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
                                   [values](std::uint32_t key) { return static_cast<std::uint64_t>(values[figures + key]); });
    record_parts::fill_means(row, values[sum], values[magnitude], values[square], values[unit]);
    if (values[asked] > 0) row.unmoved = values[unmoved] / values[asked];
}

}  // namespace mantissa::packed_record
