#pragma once
// Where a Loader's batches come from: a data set with rows, or a stream of samples.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/batch_sampler.h"

namespace mantissa {

/// Data whose rows can be asked for (Python's map-style data set).
class MapDataset {
  public:
    virtual ~MapDataset() = default;
    [[nodiscard]] virtual std::int64_t size() const = 0;
    /// A batch of these rows, in this order.
    [[nodiscard]] virtual Batch get(const Indices& rows) = 0;
    virtual void set_epoch(std::int64_t) {}
    /// get() draws from torch's default CPU generator.
    [[nodiscard]] virtual bool draws_random_numbers() const { return false; }
};

/// Tensors whose first dimension counts samples. `labels` may be undefined.
class TensorDataset : public MapDataset {
  public:
    TensorDataset(torch::Tensor features, torch::Tensor labels);
    [[nodiscard]] std::int64_t size() const override { return m_features.size(0); }
    [[nodiscard]] Batch get(const Indices& rows) override;

  private:
    torch::Tensor m_features, m_labels;
};

/// Samples one after the other (Python's IterableDataset).
class IterableDataset {
  public:
    virtual ~IterableDataset() = default;
    virtual void begin(std::int64_t epoch) = 0;
    /// One sample, without a dimension for the batch; empty at the end.
    [[nodiscard]] virtual std::optional<Batch> next() = 0;
    [[nodiscard]] virtual std::optional<std::int64_t> size() const { return std::nullopt; }
    [[nodiscard]] virtual bool draws_random_numbers() const { return false; }
};

class IndexedBatches : public BatchSource {
  public:
    IndexedBatches(std::shared_ptr<MapDataset> dataset, std::shared_ptr<BatchSampler> sampler, const LoaderOptions& options);
    void begin(std::int64_t epoch) override;
    [[nodiscard]] std::optional<Batch> next() override;
    void skip(std::int64_t batches) override { m_sampler->skip(batches); }
    void resume(std::int64_t epoch, std::int64_t batches) override;
    [[nodiscard]] std::optional<std::int64_t> samples() const override;
    [[nodiscard]] std::optional<std::int64_t> batches() const override { return m_sampler->length(); }
    [[nodiscard]] std::optional<std::int64_t> total_batch_size() const override;
    [[nodiscard]] bool drops_last() const override { return m_sampler->drops_last(); }
    [[nodiscard]] bool is_non_blocking() const override { return m_non_blocking; }
    [[nodiscard]] bool draws_random_numbers() const override { return m_dataset->draws_random_numbers(); }
    void divide(const Division& division) override;
    [[nodiscard]] StateBundle state() const override { return m_sampler->state(); }
    void load_state(const StateBundle& bundle) override { m_sampler->load_state(bundle); }

  private:
    std::shared_ptr<MapDataset> m_dataset;
    std::shared_ptr<BatchSampler> m_sampler;
    std::optional<at::Generator> m_generator;
    bool m_non_blocking;
    std::int64_t m_batches_at_once = 1;  // over all processes
};

/// Each process reads the whole stream and keeps its part, as Accelerate's IterableDatasetShard: the last round is filled from the
/// first one.
class StreamBatches : public BatchSource {
  public:
    StreamBatches(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options);
    void begin(std::int64_t epoch) override;
    void resume(std::int64_t epoch, std::int64_t batches) override;
    [[nodiscard]] std::optional<Batch> next() override { return next_batch(true); }
    void skip(std::int64_t batches) override;
    [[nodiscard]] std::optional<std::int64_t> samples() const override { return m_dataset->size(); }
    [[nodiscard]] std::optional<std::int64_t> batches() const override;
    [[nodiscard]] std::optional<std::int64_t> total_batch_size() const override { return m_round; }
    [[nodiscard]] bool drops_last() const override { return m_drop_last; }
    [[nodiscard]] bool is_non_blocking() const override { return m_non_blocking; }
    [[nodiscard]] bool draws_random_numbers() const override { return m_dataset->draws_random_numbers(); }
    void divide(const Division& division) override;

  private:
    [[nodiscard]] std::optional<Batch> next_batch(bool is_wanted);

    std::shared_ptr<IterableDataset> m_dataset;
    bool m_drop_last, m_non_blocking;
    std::int64_t m_batch_size, m_round;  // samples of this process, of all processes
    std::int64_t m_rank = 0, m_processes = 1;
    std::vector<Batch> m_first_round;
    bool m_has_ended = false;
};

}  // namespace mantissa
