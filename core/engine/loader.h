#pragma once
// What a data set must offer to be prepared: batches of one pass, in order.
#include <cstdint>
#include <memory>
#include <optional>

#include "torch_pch.h"

namespace mantissa {

struct Batch {
    torch::Tensor features, labels;
};

class BatchSource {
  public:
    virtual ~BatchSource() = default;
    virtual void begin(std::int64_t epoch) = 0;
    virtual std::optional<Batch> next() = 0;  // empty at the end of the pass
    /// Goes past so many batches of the pass. A source that knows its order needn't make them.
    virtual void skip(std::int64_t batches) {
        while (batches-- > 0 && next()) {
        }
    }
    /// Samples of a whole pass over all processes; empty: not known (a stream).
    [[nodiscard]] virtual std::optional<std::int64_t> samples() const { return std::nullopt; }
};

/// Raw loader, to be moved into prepare().
class Loader {
  public:
    explicit Loader(std::unique_ptr<BatchSource> source) : m_source(std::move(source)) {}
    [[nodiscard]] std::unique_ptr<BatchSource> take() && { return std::move(m_source); }

  private:
    std::unique_ptr<BatchSource> m_source;
};

}  // namespace mantissa
