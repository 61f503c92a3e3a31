#include "engine/batch_sampler.h"

#include <algorithm>

#include "engine/engine_error.h"

namespace mantissa {
namespace {

std::int64_t size_of(const Indices& indices) { return static_cast<std::int64_t>(indices.size()); }

Indices slice(const Indices& indices, std::int64_t from, std::int64_t to) {
    const std::int64_t end = std::min(to, size_of(indices)), begin = std::min(from, end);
    return {indices.begin() + begin, indices.begin() + end};
}

void append(Indices& to, const Indices& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Repeats itself, doubling, until it is long enough. A single index stays a loop of one.
void repeat_until(Indices& indices, std::int64_t length) {
    while (size_of(indices) < length) {
        const Indices once = indices;
        append(indices, once);
    }
}

}  // namespace

SamplerBatches::SamplerBatches(std::shared_ptr<Sampler> sampler, std::int64_t batch_size, bool drop_last)
    : m_sampler(std::move(sampler)), m_batch_size(batch_size), m_drop_last(drop_last) {
    if (m_batch_size < 1) {
        throw EngineError({ErrorCode::BadPlan, "the loader's batch_size is " + std::to_string(m_batch_size),
                           "use a whole number from 1 up"});
    }
}

void SamplerBatches::take(Indices order) {
    m_order = std::move(order);
    m_position = 0;
    m_is_finished = false;
}

std::optional<Indices> SamplerBatches::next() {
    const std::size_t left = m_order.size() - m_position, size = static_cast<std::size_t>(m_batch_size);
    if (left == 0 || (m_drop_last && left < size)) {
        if (!m_is_finished) m_sampler->finish();
        m_is_finished = true;
        return std::nullopt;
    }
    const auto begin = m_order.begin() + static_cast<std::ptrdiff_t>(m_position);
    const auto count = static_cast<std::ptrdiff_t>(std::min(left, size));
    m_position += static_cast<std::size_t>(count);
    return Indices(begin, begin + count);
}

void SamplerBatches::skip(std::int64_t batches) {
    const auto left = static_cast<std::int64_t>(m_order.size() - m_position);
    const std::int64_t whole = std::min(batches, left / m_batch_size);
    m_position += static_cast<std::size_t>(whole * m_batch_size);
    if (whole < batches) static_cast<void>(next());
}

std::optional<std::int64_t> SamplerBatches::length() const {
    const std::int64_t samples = m_sampler->length();
    return m_drop_last ? samples / m_batch_size : (samples + m_batch_size - 1) / m_batch_size;
}

BatchSamplerShard::BatchSamplerShard(std::shared_ptr<BatchSampler> base, std::int64_t processes, std::int64_t rank,
                                     bool split_batches, bool even_batches)
    : m_base(std::move(base)), m_processes(processes), m_rank(rank), m_split(split_batches), m_even(even_batches) {
    const auto size = m_base->batch_size();
    if (m_split && (!size || *size % m_processes != 0)) {
        throw EngineError({ErrorCode::BadPlan,
                           "split_batches: the batch size " + (size ? "is " + std::to_string(*size) : std::string("varies")) +
                               ", which can't be divided by " + std::to_string(m_processes) + " processes",
                           "use a batch size that is a multiple of the number of processes, or split_batches = false"});
    }
}

void BatchSamplerShard::clear() {
    m_first_batches.clear();
    m_mine.reset();
    m_last.clear();
    m_tail.clear();
    m_index = -1;
    m_base_ended = false;
}

void BatchSamplerShard::begin(std::int64_t epoch) {
    clear();
    m_base->begin(epoch);
}

void BatchSamplerShard::begin_again(std::int64_t epoch) {
    clear();
    m_base->begin_again(epoch);
}

std::optional<Indices> BatchSamplerShard::next() {
    if (!m_base_ended) {
        if (auto batch = m_split ? next_part() : next_whole()) return batch;
        m_base_ended = true;
        if (!m_base->drops_last() && !m_first_batches.empty()) m_split ? end_split() : end_whole();
    }
    if (m_tail.empty()) return std::nullopt;
    Indices batch = std::move(m_tail.front());
    m_tail.pop_front();
    return batch;
}

Indices BatchSamplerShard::part_of(const Indices& batch) const {
    const std::int64_t length = *m_base->batch_size() / m_processes;
    return slice(batch, length * m_rank, length * (m_rank + 1));
}

std::optional<Indices> BatchSamplerShard::next_part() {
    while (auto batch = m_base->next()) {
        m_last = std::move(*batch);
        if (m_first_batches.empty()) m_first_batches.push_back(m_last);
        if (size_of(m_last) == *m_base->batch_size()) return part_of(m_last);
    }
    return std::nullopt;
}

void BatchSamplerShard::end_split() {
    const std::int64_t size = *m_base->batch_size();
    if (size_of(m_last) >= size) return;
    if (m_even) {
        Indices wrapped = m_first_batches.front();
        if (wrapped.empty()) return;
        repeat_until(wrapped, size);
        append(m_last, wrapped);
    } else if (size_of(m_last) <= size / m_processes * m_rank) {
        return;
    }
    m_tail.push_back(part_of(m_last));
}

std::optional<Indices> BatchSamplerShard::next_whole() {
    const auto size = m_base->batch_size();
    while (auto batch = m_base->next()) {
        m_last = std::move(*batch);
        const std::int64_t place = ++m_index % m_processes;
        if (!m_base->drops_last() && m_index < m_processes) m_first_batches.push_back(m_last);
        if (place == m_rank) m_mine = m_last;
        // A round is given out when it is known that every process has a full batch.
        if (place == m_processes - 1 && (!size || size_of(m_last) == *size)) return std::exchange(m_mine, std::nullopt);
    }
    return std::nullopt;
}

void BatchSamplerShard::end_whole() {
    const auto size = m_base->batch_size();
    if (!m_even) {
        if (m_mine && !m_mine->empty()) m_tail.push_back(std::move(*m_mine));
        return;
    }
    if (m_mine && !m_mine->empty() && (!size || size_of(*m_mine) == *size)) m_tail.push_back(std::move(*m_mine));
    fill_last_round();
}

void BatchSamplerShard::fill_last_round() {
    const auto size = m_base->batch_size();
    if (!size || size_of(m_last) == *size) {
        m_last.clear();
        ++m_index;
    }
    if (!size) {
        const auto given = m_first_batches.size();
        for (std::size_t i = 0; m_index % m_processes != 0; ++i, ++m_index) {
            if (m_index % m_processes == m_rank) m_tail.push_back(m_first_batches[i % given]);
        }
        return;
    }
    Indices wrapped;
    for (const auto& batch : m_first_batches) append(wrapped, batch);
    if (wrapped.empty()) return;
    repeat_until(wrapped, m_processes * *size);
    std::int64_t position = 0;
    for (; m_index % m_processes != 0 || !m_last.empty(); ++m_index) {
        const std::int64_t end = position + *size - size_of(m_last);
        append(m_last, slice(wrapped, position, end));
        if (m_index % m_processes == m_rank) m_tail.push_back(m_last);
        position = end;
        m_last.clear();
    }
}

std::optional<std::int64_t> BatchSamplerShard::length() const {
    const auto batches = m_base->length();
    if (!batches || m_split || *batches % m_processes == 0) return !batches || m_split ? batches : *batches / m_processes;
    const std::int64_t rounds = *batches / m_processes;
    if (m_base->drops_last()) return rounds;
    return m_even || m_rank < *batches % m_processes ? rounds + 1 : rounds;
}

}  // namespace mantissa
