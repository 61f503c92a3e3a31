#include "data/batch_source.h"

#include <algorithm>

namespace mantissa {

OrderedBatches::OrderedBatches(const Dataset& dataset, SampleOrder order, std::int64_t batch_size)
    : m_features(dataset.features),
      m_labels(dataset.labels),
      m_order(std::move(order)),
      m_batch_size(batch_size) {}

void OrderedBatches::begin(std::int64_t epoch) {
    m_epoch_order = m_order.epoch(epoch);
    m_position = 0;
}

std::optional<Batch> OrderedBatches::next() {
    if (m_position >= m_order.samples()) return std::nullopt;
    const std::int64_t end = std::min(m_position + m_batch_size, m_order.samples());
    const torch::Tensor indices = m_epoch_order.slice(0, m_position, end);
    m_position = end;
    return Batch{m_features.index_select(0, indices), m_labels.index_select(0, indices)};
}

void OrderedBatches::skip(std::int64_t batches) {
    const std::int64_t left = batches_per_epoch() - (m_position + m_batch_size - 1) / m_batch_size;
    m_position += std::min(batches, left) * m_batch_size;
}

std::int64_t OrderedBatches::batches_per_epoch() const {
    return (m_order.samples() + m_batch_size - 1) / m_batch_size;
}

}  // namespace mantissa
