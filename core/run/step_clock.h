#pragma once
// The time of one step on its device: between two events in a GPU's queue, which are read when both have passed; on a CPU the clock's.
// Thread: the one that trains.
#include <cstdint>
#include <optional>

#include "engine/process_group.h"

namespace mantissa {

class StepClock {
  public:
    /// Starts.
    explicit StepClock(torch::Device device);
    void stop();
    /// Waits for the step's end.
    [[nodiscard]] std::int64_t ns() const;

  private:
    void mark(std::optional<c10::Event>& event) const;

    torch::Device m_device;
    std::int64_t m_start_ns = 0, m_end_ns = 0;    // a CPU
    std::optional<c10::Event> m_start, m_end;  // a GPU
};

}  // namespace mantissa
