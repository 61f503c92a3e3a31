#include "data/batch_source.h"

#include <algorithm>

#include "engine/engine_error.h"
#include "engine/process_group.h"

namespace mantissa {

OrderedBatches::OrderedBatches(const Dataset& dataset, SampleOrder order, std::int64_t batch_size, bool drop_last)
    : m_features(dataset.features),
      m_labels(dataset.labels),
      m_order(std::move(order)),
      m_batch_size(batch_size),
      m_drops_last(drop_last) {}

void OrderedBatches::begin(std::int64_t epoch) {
    m_epoch_order = m_order.epoch(epoch);
    m_position = 0;
}

std::optional<Batch> OrderedBatches::next() {
    const std::int64_t samples = m_order.samples();
    if (m_position >= samples || (m_drops_last && m_position + round() > samples)) return std::nullopt;
    const std::int64_t begin = m_position + m_rank * m_batch_size, end = begin + m_batch_size;
    const torch::Tensor indices = end <= samples || !m_fills_up
                                      ? m_epoch_order.slice(0, std::min(begin, samples), std::min(end, samples))
                                      : m_epoch_order.index_select(0, torch::arange(begin, end, at::kLong).remainder(samples));
    m_position = std::min(m_position + round(), samples);
    return Batch{m_features.index_select(0, indices), m_labels.index_select(0, indices)};
}

void OrderedBatches::skip(std::int64_t batches) {
    const std::int64_t left = batches_per_epoch() - (m_position + round() - 1) / round();
    m_position += std::min(batches, left) * round();
}

std::int64_t OrderedBatches::batches_per_epoch() const {
    return m_drops_last ? m_order.samples() / round() : (m_order.samples() + round() - 1) / round();
}

void OrderedBatches::divide(const Division& division) {
    if (!division.processes || division.processes->size() == 1) return;
    m_rank = division.processes->rank();
    m_ranks = division.processes->size();
    m_fills_up = division.even_batches;
    if (!division.split_batches) return;
    if (m_batch_size % m_ranks != 0) {
        throw EngineError({ErrorCode::BadPlan,
                           "training.batch_size is " + std::to_string(m_batch_size) + ", which can't be divided by " +
                               std::to_string(m_ranks) + " processes",
                           "use a multiple of " + std::to_string(m_ranks) + ", or training.split_batches false"});
    }
    m_batch_size /= m_ranks;
}

}  // namespace mantissa
