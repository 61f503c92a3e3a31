#pragma once
// Batches of a data set in the order of the plan, gathered with index_select; the last short batch of an
// epoch is kept.
#include <cstdint>
#include <optional>

#include "data/dataset.h"
#include "data/sample_order.h"
#include "engine/loader.h"

namespace mantissa {

class OrderedBatches : public BatchSource {
  public:
    OrderedBatches(const Dataset& dataset, SampleOrder order, std::int64_t batch_size);

    void begin(std::int64_t epoch) override;
    std::optional<Batch> next() override;

    [[nodiscard]] std::int64_t batches_per_epoch() const;

  private:
    torch::Tensor m_features, m_labels;
    SampleOrder m_order;
    std::int64_t m_batch_size;
    torch::Tensor m_epoch_order;
    std::int64_t m_position = 0;
};

}  // namespace mantissa
