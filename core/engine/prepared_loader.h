#pragma once
// A loader after prepare(): batches on the device, one looked ahead, so that the last one is known to be the last. Thread: the one
// that trains.
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/loader.h"

namespace mantissa {

class LoaderCore;

/// The loaders that the program is in the middle of. The one begun last says where the data end (upstream: GradientState).
class ActiveLoaders {
  public:
    void begin(const LoaderCore* loader);
    void end(const LoaderCore* loader);
    /// Of the active loader; without one, what a loop of its own said.
    [[nodiscard]] bool end_of_data() const;
    void set_end_of_data(bool is_last_batch) { m_by_hand = is_last_batch; }
    /// Samples that are no repetitions in the last batch over all processes; 0: all of them, -1: not known.
    [[nodiscard]] std::int64_t remainder() const;

  private:
    std::vector<const LoaderCore*> m_loaders;
    bool m_by_hand = false;
};

/// State of a prepared loader, on the heap: a handle may move while a pass is open.
class LoaderCore : public Stateful {
  public:
    struct Placement {
        torch::Device device = torch::kCPU;
        bool moves = true;
    };
    LoaderCore(std::shared_ptr<ActiveLoaders> active, Placement placement, std::unique_ptr<BatchSource> source,
               const Division& division);
    ~LoaderCore() override;
    LoaderCore(const LoaderCore&) = delete;
    LoaderCore& operator=(const LoaderCore&) = delete;

    void start_pass(std::int64_t skip = 0);
    [[nodiscard]] std::optional<Batch> next();
    void leave_pass();

    void set_epoch(std::int64_t epoch) { m_epoch = epoch; }
    [[nodiscard]] std::int64_t epoch() const { return m_epoch; }
    [[nodiscard]] bool end_of_dataloader() const { return m_is_at_end; }
    [[nodiscard]] std::int64_t remainder() const { return m_remainder; }
    [[nodiscard]] const BatchSource& source() const { return *m_source; }

    [[nodiscard]] StateBundle state() const override;
    void load_state(const StateBundle& bundle) override;

  private:
    [[nodiscard]] std::optional<Batch> fetch();
    void refuse_other_batches(const StateBundle& bundle) const;

    std::shared_ptr<ActiveLoaders> m_active;
    Placement m_placement;
    std::unique_ptr<BatchSource> m_source;
    std::int64_t m_processes = 1;
    std::optional<Batch> m_ahead;
    torch::Tensor m_generator_before_ahead;  // only for sources that draw
    std::int64_t m_epoch = 0;                // of the next pass, or of the open one
    std::int64_t m_pass_epoch = 0;
    std::int64_t m_consumed = 0;  // batches of the pass that were handed out or skipped
    std::int64_t m_remainder = -1;
    bool m_is_open = false;    // a pass was begun and its last batch wasn't handed out yet; also after breaking out of it
    bool m_is_inside = false;  // the loop is running
    bool m_is_at_end = false;
    bool m_is_restored = false;  // the next start_pass() goes on in the pass of a loaded state
};

/// One pass per begin(). A pass that is left early leaves the epoch as it is; a whole one adds one.
class PreparedLoader {
  public:
    explicit PreparedLoader(std::shared_ptr<LoaderCore> core, std::int64_t skip = 0) : m_core(std::move(core)), m_skip(skip) {}

    /// Ends its pass when it goes out of scope (`break`).
    class Iterator {
      public:
        explicit Iterator(std::shared_ptr<LoaderCore> core) : m_core(std::move(core)), m_current(m_core->next()) {}
        Iterator(Iterator&&) = default;
        Iterator& operator=(Iterator&&) = default;
        ~Iterator() {
            if (m_core && m_current) m_core->leave_pass();
        }
        const Batch& operator*() const { return *m_current; }
        const Batch* operator->() const { return &*m_current; }
        Iterator& operator++() {
            m_current = m_core->next();
            return *this;
        }
        bool operator!=(std::default_sentinel_t) const { return m_current.has_value(); }
        bool operator==(std::default_sentinel_t) const { return !m_current.has_value(); }

      private:
        std::shared_ptr<LoaderCore> m_core;
        std::optional<Batch> m_current;
    };

    [[nodiscard]] Iterator begin() {
        start_pass();
        return Iterator(m_core);
    }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }
    /// The same without a range-for: first call of a pass is start_pass(); leave_pass() is for a pass that ends early.
    void start_pass() { live().start_pass(m_skip); }
    [[nodiscard]] std::optional<Batch> next() { return live().next(); }
    void leave_pass() { live().leave_pass(); }

    /// Of the next pass. Whole passes count it on from there.
    void set_epoch(std::int64_t epoch) { m_core->set_epoch(epoch); }
    [[nodiscard]] std::int64_t epoch() const { return m_core->epoch(); }
    /// Batches of a pass on this process: with n processes n times fewer than the raw loader has. Empty: not known.
    [[nodiscard]] std::optional<std::int64_t> length() const;
    [[nodiscard]] std::optional<std::int64_t> total_samples() const { return m_core->source().samples(); }
    [[nodiscard]] std::optional<std::int64_t> total_batch_size() const { return m_core->source().total_batch_size(); }
    /// True from the moment the last batch of the pass is in hand.
    [[nodiscard]] bool end_of_dataloader() const { return m_core->end_of_dataloader(); }
    [[nodiscard]] std::int64_t remainder() const { return m_core->remainder(); }

    /// Epoch, position in it and the sampler's generator. After load_state() the next pass goes on with exactly the next batch.
    [[nodiscard]] StateBundle state() const { return m_core->state(); }
    void load_state(const StateBundle& bundle) { m_core->load_state(bundle); }
    [[nodiscard]] const std::shared_ptr<LoaderCore>& core() const { return m_core; }
    /// For free_memory: this handle lets go of the loader.
    void release() { m_core.reset(); }

  private:
    [[nodiscard]] LoaderCore& live() const;  // refuses after release()

    friend PreparedLoader skip_first_batches(const PreparedLoader& loader, std::int64_t batches);

    std::shared_ptr<LoaderCore> m_core;
    std::int64_t m_skip = 0;
};

/// The same loader, whose passes begin after so many batches; `loader` itself isn't changed. For the first epoch after a resume by
/// hand.
[[nodiscard]] PreparedLoader skip_first_batches(const PreparedLoader& loader, std::int64_t batches);

}  // namespace mantissa
