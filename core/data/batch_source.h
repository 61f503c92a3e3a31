#pragma once
// Batches of a data set in the order of the plan, gathered with index_select; the last short batch of an
// epoch is kept unless the plan drops it.
#include <cstdint>
#include <optional>

#include "data/dataset.h"
#include "data/sample_order.h"
#include "engine/loader.h"

namespace mantissa {

class OrderedBatches : public BatchSource {
  public:
    OrderedBatches(const Dataset& dataset, SampleOrder order, std::int64_t batch_size, bool drop_last = false);

    void begin(std::int64_t epoch) override;
    std::optional<Batch> next() override;
    void skip(std::int64_t batches) override;
    [[nodiscard]] std::optional<std::int64_t> samples() const override { return m_order.samples(); }
    [[nodiscard]] std::optional<std::int64_t> batches() const override { return batches_per_epoch(); }
    [[nodiscard]] std::optional<std::int64_t> total_batch_size() const override { return round(); }
    [[nodiscard]] bool drops_last() const override { return m_drops_last; }
    /// Round k of n processes is the order's next n batches, one for each; with split_batches the next batch, a part for each. What
    /// the last round lacks comes from the start of the order, as in Accelerate's even_batches; without it processes get what is left:
    /// a batch of fewer samples, or of none (all get equally many batches, so that none waits for another).
    void divide(const Division& division) override;

    [[nodiscard]] std::int64_t batches_per_epoch() const;

  private:
    [[nodiscard]] std::int64_t round() const { return m_ranks * m_batch_size; }

    torch::Tensor m_features, m_labels;
    SampleOrder m_order;
    std::int64_t m_batch_size;  // of this process
    bool m_drops_last, m_fills_up = false;
    std::int64_t m_rank = 0, m_ranks = 1;
    torch::Tensor m_epoch_order;
    std::int64_t m_position = 0;  // in the order, of the round that comes next
};

}  // namespace mantissa
