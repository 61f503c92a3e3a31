#pragma once
// Batches of indices, and their division among processes exactly as Accelerate 1.15's BatchSamplerShard.
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/sampler.h"

namespace mantissa {

class BatchSampler {
  public:
    virtual ~BatchSampler() = default;
    virtual void begin(std::int64_t epoch) = 0;
    [[nodiscard]] virtual std::optional<Indices> next() = 0;
    /// Empty: it varies from batch to batch.
    [[nodiscard]] virtual std::optional<std::int64_t> batch_size() const { return std::nullopt; }
    [[nodiscard]] virtual bool drops_last() const { return false; }
    /// Batches of a pass, and samples; empty: not known.
    [[nodiscard]] virtual std::optional<std::int64_t> length() const { return std::nullopt; }
    [[nodiscard]] virtual std::optional<std::int64_t> samples() const { return std::nullopt; }
    virtual void skip(std::int64_t batches) {
        while (batches-- > 0 && next()) {
        }
    }
    /// As begin(), for the pass that was open when the loaded state was taken.
    virtual void begin_again(std::int64_t epoch) { begin(epoch); }
    virtual void synchronize() {}
    virtual void prepare(const Division&) {}
    [[nodiscard]] virtual StateBundle state() const { return {}; }
    virtual void load_state(const StateBundle&) {}
};

/// Python's BatchSampler: so many of a sampler's indices at a time.
class SamplerBatches : public BatchSampler {
  public:
    /// Throws EngineError when the batch size is below 1.
    SamplerBatches(std::shared_ptr<Sampler> sampler, std::int64_t batch_size, bool drop_last);
    void begin(std::int64_t epoch) override { take(m_sampler->order(epoch)); }
    void begin_again(std::int64_t epoch) override { take(m_sampler->order_again(epoch)); }
    [[nodiscard]] std::optional<Indices> next() override;
    void skip(std::int64_t batches) override;
    [[nodiscard]] std::optional<std::int64_t> batch_size() const override { return m_batch_size; }
    [[nodiscard]] bool drops_last() const override { return m_drop_last; }
    [[nodiscard]] std::optional<std::int64_t> length() const override;
    [[nodiscard]] std::optional<std::int64_t> samples() const override { return m_sampler->length(); }
    void synchronize() override { m_sampler->synchronize(); }
    void prepare(const Division& division) override { m_sampler->prepare(division); }
    [[nodiscard]] StateBundle state() const override { return m_sampler->state(); }
    void load_state(const StateBundle& bundle) override { m_sampler->load_state(bundle); }

  private:
    void take(Indices order);

    std::shared_ptr<Sampler> m_sampler;
    std::int64_t m_batch_size;
    bool m_drop_last;
    Indices m_order;
    std::size_t m_position = 0;
    bool m_is_finished = true;
};

/// The batches of one process. Whole: rank r gets batches r, r + n, …; with `even_batches` the last round is filled from the start, so
/// that all get equally many of equal size. Split: rank r gets the r-th part of every batch.
class BatchSamplerShard : public BatchSampler {
  public:
    /// Throws EngineError when batches are to be split and their size can't be divided by the processes.
    BatchSamplerShard(std::shared_ptr<BatchSampler> base, std::int64_t processes, std::int64_t rank, bool split_batches,
                      bool even_batches);
    void begin(std::int64_t epoch) override;
    void begin_again(std::int64_t epoch) override;
    [[nodiscard]] std::optional<Indices> next() override;
    [[nodiscard]] std::optional<std::int64_t> batch_size() const override { return m_base->batch_size(); }
    [[nodiscard]] bool drops_last() const override { return m_base->drops_last(); }
    [[nodiscard]] std::optional<std::int64_t> length() const override;
    [[nodiscard]] std::optional<std::int64_t> samples() const override { return m_base->samples(); }
    void synchronize() override { m_base->synchronize(); }
    void prepare(const Division& division) override { m_base->prepare(division); }
    [[nodiscard]] StateBundle state() const override { return m_base->state(); }
    void load_state(const StateBundle& bundle) override { m_base->load_state(bundle); }

  private:
    void clear();
    [[nodiscard]] std::optional<Indices> next_part();
    [[nodiscard]] std::optional<Indices> next_whole();
    [[nodiscard]] Indices part_of(const Indices& batch) const;
    void end_split();
    void end_whole();
    void fill_last_round();

    std::shared_ptr<BatchSampler> m_base;
    std::int64_t m_processes, m_rank;
    bool m_split, m_even;
    std::vector<Indices> m_first_batches;  // of the first round, to wrap to
    std::optional<Indices> m_mine;         // of the current round
    Indices m_last;
    std::int64_t m_index = -1;  // of m_last
    std::deque<Indices> m_tail;
    bool m_base_ended = false;
};

}  // namespace mantissa
