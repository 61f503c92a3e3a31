#pragma once
// What a data set must offer to be prepared: batches of one pass, in order.
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/state_bundle.h"

namespace mantissa {

class ProcessGroup;
class Sampler;
class BatchSampler;
class MapDataset;
class IterableDataset;

struct Batch {
    torch::Tensor features, labels;
};

/// How the processes divide the batches of a loader.
struct Division {
    std::shared_ptr<ProcessGroup> processes = {};  // empty: this process alone
    bool split_batches = false;                    // each takes its part of every batch; else each gets its own batches
    bool even_batches = true;                      // all get equally many of equal size: the last ones wrap to the start
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
    /// Goes on in a pass that an earlier process had begun, after so many of its batches.
    virtual void resume(std::int64_t epoch, std::int64_t batches) {
        begin(epoch);
        skip(batches);
    }

    /// Samples of a whole pass over all processes; empty: not known (a stream).
    [[nodiscard]] virtual std::optional<std::int64_t> samples() const { return std::nullopt; }
    /// Batches that this process gets in a pass; empty: not known.
    [[nodiscard]] virtual std::optional<std::int64_t> batches() const { return std::nullopt; }
    /// Samples of one batch over all processes; empty: it varies, or isn't known.
    [[nodiscard]] virtual std::optional<std::int64_t> total_batch_size() const { return std::nullopt; }
    /// A last, short batch is left out.
    [[nodiscard]] virtual bool drops_last() const { return false; }
    /// Copies to the device need not wait (pinned memory).
    [[nodiscard]] virtual bool is_non_blocking() const { return false; }
    /// Making a batch draws from torch's default CPU generator (augmentation): then a resume draws the same numbers again.
    [[nodiscard]] virtual bool draws_random_numbers() const { return false; }

    /// Called once, by prepare(). A source that can't be divided says so when there are several processes.
    virtual void divide(const Division& division);

    /// Beyond epoch and position: generators. What is taken in the middle of a pass makes resume() repeat that pass.
    [[nodiscard]] virtual StateBundle state() const { return {}; }
    virtual void load_state(const StateBundle&) {}
};

/// As in Python's DataLoader and Accelerate's DataLoaderConfiguration.
struct LoaderOptions {
    std::int64_t batch_size = 1;
    bool shuffle = false;
    bool drop_last = false;                        // leaves a last, short batch out
    bool use_seedable_sampler = false;             // epoch e is shuffled by the seed + e alone
    std::optional<std::int64_t> data_seed = {};    // of the seedable sampler; unset: torch's initial seed
    std::optional<at::Generator> generator = {};   // for shuffling, and advanced by it
    bool non_blocking = false;                     // copies to the device needn't wait: pin the data's memory
    std::shared_ptr<Sampler> sampler = {};         // an order of one's own; excludes shuffle
    std::shared_ptr<BatchSampler> batch_sampler = {};  // excludes batch_size, shuffle, drop_last and sampler
};

/// Raw loader, to be moved into prepare(). Options that exclude each other and sizes that don't fit throw EngineError.
class Loader {
  public:
    explicit Loader(std::unique_ptr<BatchSource> source) : m_source(std::move(source)) {}
    /// Rows of `features` and, where there are any, of `labels`.
    Loader(torch::Tensor features, torch::Tensor labels, const LoaderOptions& options = {});
    explicit Loader(std::shared_ptr<MapDataset> dataset, const LoaderOptions& options = {});
    /// A stream has its own order. Among processes it is divided sample by sample, each reads all of it.
    explicit Loader(std::shared_ptr<IterableDataset> dataset, const LoaderOptions& options = {});
    [[nodiscard]] std::unique_ptr<BatchSource> take() && { return std::move(m_source); }

  private:
    std::unique_ptr<BatchSource> m_source;
};

}  // namespace mantissa
