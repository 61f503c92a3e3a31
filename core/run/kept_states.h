#pragma once
// Two states in memory, so many steps apart: the older one is one to two distances back, or the start of the run. An incident writes it
// as a checkpoint, and with it the state at the start of its own step while the weights are still those. Thread: the one that trains.
#include "checkpoint/checkpoint_files.h"
#include "run/loop_watch.h"
#include "run/step_start.h"

namespace mantissa {

class KeptStates : public LoopWatch {
  public:
    explicit KeptStates(const LoopContext& context);

    void before_step(std::int64_t step) override;

    /// Incidents of one run that take states along; later ones are near enough to them, or replayed from the seed.
    static constexpr std::int64_t incidents_with_states = 3;

  private:
    struct Kept {
        std::int64_t step = -1;
        Checkpoint state;
        std::int64_t bytes = 0;
    };
    void keep(std::int64_t step);
    void give_up(std::int64_t bytes);
    void tell() const;
    [[nodiscard]] KeptStateFiles write(const std::filesystem::path& folder, std::int64_t step);
    [[nodiscard]] std::optional<Checkpoint> start_of(std::int64_t step) const;
    Result<std::int64_t> write_state(const std::filesystem::path& folder, const Checkpoint& state) const;

    LoopContext m_context;
    bool m_keeps = true;
    std::string m_reason;  // why not
    std::int64_t m_first_step = -1;
    Kept m_older, m_newer;
    StepStart m_start;
    std::vector<std::int64_t> m_incidents;  // steps whose incidents took states along
};

}  // namespace mantissa
