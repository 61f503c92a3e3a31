#pragma once
// The order of one pass over a data set, as torch.utils.data's samplers and Accelerate's SeedableRandomSampler give it, to the bit.
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/loader.h"

namespace mantissa {

using Indices = std::vector<std::int64_t>;

class Sampler {
  public:
    virtual ~Sampler() = default;
    [[nodiscard]] virtual std::int64_t length() const = 0;
    /// Before order(): what the processes must have in common.
    virtual void synchronize() {}
    [[nodiscard]] virtual Indices order(std::int64_t epoch) = 0;
    /// The order of the pass that was open when the loaded state was taken.
    [[nodiscard]] virtual Indices order_again(std::int64_t epoch) { return order(epoch); }
    virtual void finish() {}  // the pass was walked to its end
    virtual void prepare(const Division&) {}
    [[nodiscard]] virtual StateBundle state() const { return {}; }
    virtual void load_state(const StateBundle&) {}
};

class SequentialSampler : public Sampler {
  public:
    explicit SequentialSampler(std::int64_t length) : m_length(length) {}
    [[nodiscard]] std::int64_t length() const override { return m_length; }
    [[nodiscard]] Indices order(std::int64_t epoch) override;

  private:
    std::int64_t m_length;
};

/// Python's RandomSampler: without a generator each pass draws a seed from the default one. With several processes rank 0's
/// generator holds for all.
class RandomSampler : public Sampler {
  public:
    explicit RandomSampler(std::int64_t length, std::optional<at::Generator> generator = {})
        : m_length(length), m_generator(std::move(generator)) {}
    [[nodiscard]] std::int64_t length() const override { return m_length; }
    void synchronize() override;
    [[nodiscard]] Indices order(std::int64_t epoch) override;
    [[nodiscard]] Indices order_again(std::int64_t epoch) override;
    void finish() override;
    void prepare(const Division& division) override;
    [[nodiscard]] StateBundle state() const override;
    void load_state(const StateBundle& bundle) override;

  private:
    std::int64_t m_length;
    std::optional<at::Generator> m_generator;
    std::shared_ptr<ProcessGroup> m_processes;
    std::int64_t m_pass_seed = 0;
    torch::Tensor m_pass_state;  // of the generator, before it gave the order of the open pass
};

/// Epoch e is the permutation of a generator seeded with `data_seed` + e; without a data seed, with torch's initial seed at the time
/// of prepare() (rank 0's) + e.
class SeedableRandomSampler : public Sampler {
  public:
    explicit SeedableRandomSampler(std::int64_t length, std::optional<std::int64_t> data_seed = {})
        : m_length(length), m_seed(data_seed) {}
    [[nodiscard]] std::int64_t length() const override { return m_length; }
    [[nodiscard]] Indices order(std::int64_t epoch) override;
    void prepare(const Division& division) override;
    [[nodiscard]] StateBundle state() const override;
    void load_state(const StateBundle& bundle) override;

  private:
    std::int64_t m_length;
    std::optional<std::int64_t> m_seed;
};

/// A number as Python's DataLoader and samplers draw their seeds.
[[nodiscard]] std::int64_t draw_seed(const std::optional<at::Generator>& generator = {});

}  // namespace mantissa
