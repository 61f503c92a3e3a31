#include "numerics/tensor_record.h"

#include <bit>

#include "numerics/dtype_names.h"
#include "numerics/record_parts.h"
#include "numerics/value_blocks.h"

namespace mantissa {
namespace {

using blocks::block_values;

/// The count tables of this thread: they are cleared by reading.
blocks::KeyCounts& key_counts() {
    thread_local blocks::KeyCounts counts;
    return counts;
}

auto taken_counts() {
    return record_parts::KeyedCounts{[&counts = key_counts()](std::uint32_t key) { return counts.take(key); }};
}

/// The order of elements doesn't matter to a record, so what is dense is read as it lies.
torch::Tensor dense(const torch::Tensor& tensor) {
    return tensor.layout() == at::kStrided && tensor.is_non_overlapping_and_dense() ? tensor.detach() : tensor.detach().contiguous();
}

bool is_read_in_blocks(at::ScalarType type) {
    return type == at::kFloat || type == at::kHalf || type == at::kBFloat16 || type == at::kDouble;
}

template <typename Value>
std::array<float, 256> values_of_bytes() {
    std::array<float, 256> values{};
    for (unsigned bits = 0; bits < 256; ++bits) values[bits] = static_cast<float>(Value(static_cast<std::uint8_t>(bits), Value::from_bits()));
    return values;
}

/// The values of a dense CPU tensor below double precision, as floats, block by block.
class FloatBlocks {
  public:
    FloatBlocks(const torch::Tensor& tensor, double factor)
        : m_tensor(tensor), m_bytes(static_cast<const std::byte*>(tensor.const_data_ptr())), m_type(tensor.scalar_type()),
          m_factor(static_cast<float>(factor)) {
        if (m_type == at::kFloat8_e4m3fn) m_of_byte = values_of_bytes<c10::Float8_e4m3fn>();
        if (m_type == at::kFloat8_e5m2) m_of_byte = values_of_bytes<c10::Float8_e5m2>();
    }
    [[nodiscard]] static bool can_read(at::ScalarType type) {
        return (is_read_in_blocks(type) && type != at::kDouble) || type == at::kFloat8_e4m3fn || type == at::kFloat8_e5m2;
    }
    /// Valid until the next call.
    const float* block(std::int64_t first, std::size_t count) {
        const float* values = m_buffer.data();
        if (m_type == at::kFloat) {
            values = reinterpret_cast<const float*>(m_bytes) + first;
            if (m_factor == 1.0F) return values;
        } else {
            convert(first, count);
        }
        if (m_factor != 1.0F)
            for (std::size_t i = 0; i < count; ++i) m_buffer[i] = values[i] * m_factor;
        return m_buffer.data();
    }

  private:
    void convert(std::int64_t first, std::size_t count) {
        const auto* const words = reinterpret_cast<const std::uint16_t*>(m_bytes) + first;
        if (m_type == at::kHalf) return blocks::half_to_float(words, count, m_buffer.data());
        if (m_type == at::kBFloat16) return blocks::bfloat16_to_float(words, count, m_buffer.data());
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(m_bytes) + first;
        for (std::size_t i = 0; i < count; ++i) m_buffer[i] = m_of_byte[bytes[i]];
    }

    torch::Tensor m_tensor;  // keeps the values alive
    const std::byte* m_bytes;
    at::ScalarType m_type;
    float m_factor;
    std::array<float, 256> m_of_byte{};
    alignas(32) std::array<float, block_values> m_buffer;
};

/// Calls `take(first, count)` for the blocks of so many elements.
template <typename Take>
void for_each_block(std::int64_t elements, Take&& take) {
    for (std::int64_t first = 0; first < elements; first += static_cast<std::int64_t>(block_values))
        take(first, std::min(block_values, static_cast<std::size_t>(elements - first)));
}

TensorStatRow row_of(const blocks::Sums& sums, std::int64_t elements, at::ScalarType type) {
    TensorStatRow row;
    row.dtype = dtype_name(type);
    row.elements = elements;
    row.negative = static_cast<std::int64_t>(sums.negative);
    row.neg_inf = static_cast<std::int64_t>(sums.neg_inf);
    row.largest = std::bit_cast<float>(sums.largest_bits);
    row.smallest_nonzero = sums.largest_bits > 0 ? std::bit_cast<float>(sums.smallest_bits) : 0.0F;
    record_parts::fill_from_counts(row, type, 0, taken_counts());
    record_parts::fill_means(row, blocks::total(sums.sum), blocks::total(sums.magnitude), blocks::total(sums.square), 1);
    return row;
}

TensorStatRow record_of_floats(const torch::Tensor& tensor, double factor) {
    FloatBlocks values(tensor, factor);
    blocks::Sums sums;
    std::array<std::uint32_t, block_values> keys;
    for_each_block(tensor.numel(), [&](std::int64_t first, std::size_t count) {
        blocks::look(values.block(first, count), count, sums, keys.data());
        key_counts().add(keys.data(), count);
    });
    return row_of(sums, tensor.numel(), tensor.scalar_type());
}

/// Double precision is rare in training: one value at a time, with exact bins.
TensorStatRow record_of_doubles(const double* values, std::int64_t elements, double factor) {
    TensorStatRow row;
    row.dtype = dtype_name(at::kDouble);
    row.elements = elements;
    std::uint64_t subnormal = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < elements; ++i) {
        const double value = values[i] * factor, magnitude = std::abs(value);
        const std::uint32_t key = record_parts::key_of_double(magnitude);
        key_counts().add(&key, 1);
        if (std::isnan(value) || magnitude == 0) continue;
        if (std::isinf(value)) {
            row.neg_inf += value < 0 ? 1 : 0;
            continue;
        }
        row.negative += value < 0 ? 1 : 0;
        row.largest = std::max(row.largest, magnitude);
        smallest = std::min(smallest, magnitude);
        subnormal += magnitude < std::numeric_limits<double>::min() ? 1 : 0;
    }
    row.smallest_nonzero = row.largest > 0 ? smallest : 0;
    record_parts::fill_from_counts(row, at::kDouble, subnormal, taken_counts());
    const double unit = record_parts::unit_of_sums(row.largest);
    double sum = 0, magnitude = 0, square = 0;
    for (std::int64_t i = 0; i < elements; ++i) {
        const double value = values[i] * factor / unit;
        if (!std::isfinite(value)) continue;
        sum += value;
        magnitude += std::abs(value);
        square += value * value;
    }
    record_parts::fill_means(row, sum, magnitude, square, unit);
    return row;
}

bool is_host(const torch::Tensor& tensor) { return tensor.device().is_cpu() && tensor.layout() == at::kStrided; }

bool have_same_layout(const torch::Tensor& a, const torch::Tensor& b) {
    return a.strides() == b.strides() && a.is_non_overlapping_and_dense() && b.is_non_overlapping_and_dense();
}

}  // namespace

TensorStatRow tensor_record(const torch::Tensor& tensor, double factor) {
    const LookGuard guard;
    TensorStatRow row;
    if (!is_host(tensor)) {
        row.dtype = dtype_name(tensor.scalar_type());
        row.elements = tensor.numel();
        packed_record::unpack(packed_record::pack(tensor, factor).cpu(), tensor.scalar_type(), row);
        return row;
    }
    const torch::Tensor values = dense(tensor);
    if (values.scalar_type() == at::kDouble) return record_of_doubles(values.const_data_ptr<double>(), values.numel(), factor);
    if (FloatBlocks::can_read(values.scalar_type())) return record_of_floats(values, factor);
    row = record_of_floats(values.to(at::kFloat), factor);  // the rarer formats of eight bits
    row.dtype = dtype_name(values.scalar_type());
    return row;
}

TensorStatRow update_record(const torch::Tensor& before, const torch::Tensor& after, const torch::Tensor& gradient) {
    const LookGuard guard;
    const bool is_fast = is_host(after) && FloatBlocks::can_read(after.scalar_type()) && before.scalar_type() == after.scalar_type() &&
                         is_host(gradient) && FloatBlocks::can_read(gradient.scalar_type());
    if (!is_fast) {
        TensorStatRow row;
        row.dtype = dtype_name(after.scalar_type());
        row.elements = after.numel();
        packed_record::unpack(packed_record::pack_update(before, after, gradient).cpu(), after.scalar_type(), row);
        return row;
    }
    const bool same = have_same_layout(before, after) && have_same_layout(after, gradient);
    const auto read = [same](const torch::Tensor& tensor) { return same ? tensor.detach() : tensor.detach().contiguous(); };
    FloatBlocks old_values(read(before), 1), new_values(read(after), 1), gradients(read(gradient), 1);
    blocks::Sums sums;
    std::array<std::uint32_t, block_values> keys;
    alignas(32) std::array<float, block_values> updates;
    std::int64_t asked = 0, unmoved = 0;
    for_each_block(after.numel(), [&](std::int64_t first, std::size_t count) {
        const float *const from = old_values.block(first, count), *const to = new_values.block(first, count);
        const float* const wish = gradients.block(first, count);
        for (std::size_t i = 0; i < count; ++i) {
            updates[i] = to[i] - from[i];
            const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(wish[i]) & 0x7FFFFFFFU;
            const bool is_asked = magnitude - 1U < 0x7F800000U - 1U;  // neither 0 nor Inf nor NaN
            asked += is_asked ? 1 : 0;
            unmoved += is_asked && std::bit_cast<std::uint32_t>(to[i]) == std::bit_cast<std::uint32_t>(from[i]) ? 1 : 0;
        }
        blocks::look(updates.data(), count, sums, keys.data());
        key_counts().add(keys.data(), count);
    });
    TensorStatRow row = row_of(sums, after.numel(), after.scalar_type());
    if (asked > 0) row.unmoved = static_cast<double>(unmoved) / static_cast<double>(asked);
    return row;
}

void TensorRecords::add(std::string name, TensorRole role, const torch::Tensor& tensor, double factor) {
    if (!tensor.defined() || !at::isFloatingType(tensor.scalar_type())) return;
    if (is_host(tensor)) return keep(tensor_record(tensor, factor), std::move(name), role);
    const LookGuard guard;
    keep_packed(packed_record::pack(tensor, factor), tensor, std::move(name), role);
}

void TensorRecords::add_update(std::string name, const torch::Tensor& before, const torch::Tensor& after,
                               const torch::Tensor& gradient) {
    if (is_host(after)) return keep(update_record(before, after, gradient), std::move(name), TensorRole::Update);
    const LookGuard guard;
    keep_packed(packed_record::pack_update(before, after, gradient), after, std::move(name), TensorRole::Update);
}

void TensorRecords::keep(TensorStatRow row, std::string name, TensorRole role) {
    row.tensor = std::move(name);
    row.role = role;
    m_rows.push_back(std::move(row));
}

void TensorRecords::keep_packed(const torch::Tensor& packed, const torch::Tensor& tensor, std::string name, TensorRole role) {
    TensorStatRow row;
    row.dtype = dtype_name(tensor.scalar_type());
    row.elements = tensor.numel();
    m_on_device.push_back({packed, m_rows.size(), tensor.scalar_type()});
    keep(std::move(row), std::move(name), role);
}

std::vector<TensorStatRow> TensorRecords::take(std::int64_t step) {
    if (!m_on_device.empty()) {
        const LookGuard guard;
        std::vector<torch::Tensor> packed;
        for (const OnDevice& one : m_on_device) packed.push_back(one.packed);
        const torch::Tensor all = at::stack(packed).cpu();
        for (std::size_t i = 0; i < m_on_device.size(); ++i)
            packed_record::unpack(all[static_cast<std::int64_t>(i)], m_on_device[i].type, m_rows[m_on_device[i].row]);
        m_on_device.clear();
    }
    for (TensorStatRow& row : m_rows) row.step = step;
    return std::exchange(m_rows, {});
}

}  // namespace mantissa
