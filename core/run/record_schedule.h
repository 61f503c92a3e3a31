#pragma once
// Which steps get tensor records (levels 1 and 2), so that a recording stays small however long the run is: whenever enough was written
// at one distance, the distance doubles. Pure; thread: its owner's.
#include <cstdint>

namespace mantissa {

class RecordSchedule {
  public:
    // Enough at one distance: so many records of a step, or so many bytes of at least a few.
    static constexpr std::int64_t records_per_distance = 512, least_records_per_distance = 16;
    static constexpr std::int64_t bytes_per_distance = 16 << 20;

    RecordSchedule(std::int64_t level, std::int64_t every_steps);

    [[nodiscard]] std::int64_t level() const { return m_level; }
    /// Somebody wants to look more closely, or less: from the next step on, with the finest distance.
    void set_level(std::int64_t level);
    /// The loss scale grew: the next step is of interest.
    void scale_grew() { m_is_wanted = true; }

    [[nodiscard]] bool is_due(std::int64_t step) const;
    /// A step was recorded in so many bytes; true when the distance has doubled because of it.
    bool recorded(std::int64_t step, std::int64_t bytes);
    /// Steps between two records; 0 at level 0.
    [[nodiscard]] std::int64_t distance() const;

  private:
    std::int64_t m_level, m_every_steps;
    std::int64_t m_stretch = 1, m_records = 0, m_bytes = 0;
    std::int64_t m_last_step = -1;
    bool m_is_first = true, m_is_wanted = false;
};

}  // namespace mantissa
