#pragma once
// Small data for loaders, and what they made of them as text.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/data_loader.h"
#include "engine/engine_error.h"
#include "engine/process_group.h"

namespace mantissa {

using Batches = std::vector<Indices>;

/// Knows its rank; nobody to talk to.
class Rank : public ProcessGroup {
  public:
    Rank(std::int64_t rank, std::int64_t size) : m_rank(rank), m_size(size) {}
    [[nodiscard]] std::int64_t rank() const override { return m_rank; }
    [[nodiscard]] std::int64_t size() const override { return m_size; }
    [[nodiscard]] std::vector<torch::Tensor> all_gather(const torch::Tensor&) override { throw std::logic_error("no others"); }
    void all_reduce(torch::Tensor&, ReduceOperation) override { throw std::logic_error("no others"); }
    void broadcast(torch::Tensor&, std::int64_t) override { throw std::logic_error("no others"); }
    void barrier() override { throw std::logic_error("no others"); }

  private:
    std::int64_t m_rank, m_size;
};

inline Division division(std::int64_t rank, std::int64_t size, bool split = false, bool even = true) {
    return {std::make_shared<Rank>(rank, size), split, even};
}

class CountingStream : public IterableDataset {
  public:
    explicit CountingStream(std::int64_t size) : m_size(size) {}
    void begin(std::int64_t) override { m_next = 0; }
    std::optional<Batch> next() override {
        if (m_next == m_size) return std::nullopt;
        return Batch{torch::tensor(m_next++, at::kLong), {}};
    }
    std::optional<std::int64_t> size() const override { return m_size; }

  private:
    std::int64_t m_size, m_next = 0;
};

class VaryingBatches : public BatchSampler {
  public:
    explicit VaryingBatches(std::vector<std::int64_t> sizes) : m_sizes(std::move(sizes)) {}
    void begin(std::int64_t) override { m_at = 0, m_start = 0; }
    std::optional<Indices> next() override {
        if (m_at == m_sizes.size()) return std::nullopt;
        Indices batch;
        for (std::int64_t i = 0; i < m_sizes[m_at]; ++i) batch.push_back(m_start++);
        ++m_at;
        return batch;
    }
    std::optional<std::int64_t> length() const override { return static_cast<std::int64_t>(m_sizes.size()); }

  private:
    std::vector<std::int64_t> m_sizes;
    std::size_t m_at = 0;
    std::int64_t m_start = 0;
};

inline std::string text_of(const Batches& batches) {
    std::string text;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        if (i > 0) text += ';';
        for (std::size_t j = 0; j < batches[i].size(); ++j) text += (j > 0 ? " " : "") + std::to_string(batches[i][j]);
    }
    return text;
}

inline Batches all_of(BatchSampler& sampler) {
    Batches batches;
    sampler.begin(0);
    while (auto batch = sampler.next()) batches.push_back(*batch);
    return batches;
}

inline Batches pass_of(BatchSource& source, std::int64_t epoch, bool begins = true) {
    Batches batches;
    if (begins) source.begin(epoch);
    while (auto batch = source.next()) {
        const auto row = batch->features.contiguous();
        const auto* first = row.const_data_ptr<std::int64_t>();
        batches.emplace_back(first, first + row.numel());
    }
    return batches;
}

inline Indices flat(const Batches& batches) {
    Indices all;
    for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
    return all;
}

inline std::unique_ptr<BatchSource> rows(std::int64_t count, const LoaderOptions& options) {
    return Loader(torch::arange(count, at::kLong), {}, options).take();
}

inline std::string orders(BatchSource& source, std::int64_t epochs) {
    std::string text;
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) text += (epoch > 0 ? "/" : "") + text_of({flat(pass_of(source, epoch))});
    return text;
}

}  // namespace mantissa
