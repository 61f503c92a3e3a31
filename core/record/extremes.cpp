#include "record/extremes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace mantissa {
namespace {

template <typename T>
void append(std::string& blob, const std::vector<T>& values) {
    blob.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
void take(std::string_view& blob, std::vector<T>& values, std::size_t count) {
    values.resize(count);
    if (count == 0) return;  // neither side has an address then
    std::memcpy(values.data(), blob.data(), count * sizeof(T));
    blob.remove_prefix(count * sizeof(T));
}

void merge(ExtremesRow& into, const ExtremesRow& row) {
    into.steps = row.first_step + row.steps - into.first_step;
    for (std::size_t i = 0; i < into.gradient.size() && i < row.gradient.size(); ++i) {
        into.gradient[i] = std::max(into.gradient[i], row.gradient[i]);
        into.parameter[i] = std::max(into.parameter[i], row.parameter[i]);
        const std::uint64_t sum = std::uint64_t{into.nonfinite[i]} + row.nonfinite[i];
        into.nonfinite[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
    }
}

}  // namespace

// Three lists of four-byte values of one length, in the byte order of all machines that LibTorch runs on (little-endian).
std::string extremes_to_blob(const ExtremesRow& row) {
    std::string blob;
    blob.reserve(row.gradient.size() * 12);
    append(blob, row.gradient);
    append(blob, row.parameter);
    append(blob, row.nonfinite);
    return blob;
}

Result<void> extremes_from_blob(std::string_view blob, ExtremesRow& row) {
    if (blob.size() % 12 != 0) return Error{ErrorCode::InputOutput, "largest values of the recording are damaged", ""};
    const std::size_t count = blob.size() / 12;
    take(blob, row.gradient, count);
    take(blob, row.parameter, count);
    take(blob, row.nonfinite, count);
    return {};
}

std::vector<ExtremesRow> ExtremesWindow::push(const ExtremesRow& step) {
    if (m_is_open) {
        merge(m_open, step);
    } else {
        m_open = step;
        m_is_open = true;
    }
    if (m_open.steps < m_length) return {};
    if (++m_rows_of_length == rows_per_length) {
        m_rows_of_length = 0;
        m_length *= 2;
    }
    return rest();
}

std::vector<ExtremesRow> ExtremesWindow::rest() {
    if (!std::exchange(m_is_open, false)) return {};
    return {std::move(m_open)};
}

void ExtremesRing::push(ExtremesRow step) {
    if (m_rows.size() < ring_steps) {
        m_rows.push_back(std::move(step));
    } else {
        m_rows[m_next] = std::move(step);
        m_next = (m_next + 1) % ring_steps;
    }
}

std::vector<ExtremesRow> ExtremesRing::steps() const {
    std::vector<ExtremesRow> ordered(m_rows.begin() + static_cast<std::ptrdiff_t>(m_next), m_rows.end());
    ordered.insert(ordered.end(), m_rows.begin(), m_rows.begin() + static_cast<std::ptrdiff_t>(m_next));
    return ordered;
}

}  // namespace mantissa
