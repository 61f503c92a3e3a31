#pragma once
// Level 0: the largest magnitudes of every parameter and its gradient, step by step, in bounded space. The last `ring_steps` steps stay
// in memory for incidents; the recording gets windows that double in length whenever `rows_per_length` of them were written, so that
// 100,000 steps are some 4,000 rows. One row is one blob.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/rows.h"

namespace mantissa {

[[nodiscard]] std::string extremes_to_blob(const ExtremesRow& row);
/// Fills the three lists; an error for bytes of another length than their count says.
Result<void> extremes_from_blob(std::string_view blob, ExtremesRow& row);

/// Gathers steps into windows: push() gives a row once a window is full, rest() the one that is open. Not thread-safe.
class ExtremesWindow {
  public:
    static constexpr std::int64_t rows_per_length = 512;
    [[nodiscard]] std::vector<ExtremesRow> push(const ExtremesRow& step);
    [[nodiscard]] std::vector<ExtremesRow> rest();

  private:
    ExtremesRow m_open;
    std::int64_t m_length = 1, m_rows_of_length = 0;
    bool m_is_open = false;
};

/// The last steps, oldest first; memory is rows × parameters × 12 bytes.
class ExtremesRing {
  public:
    static constexpr std::size_t ring_steps = 2000;
    void push(ExtremesRow step);
    [[nodiscard]] std::vector<ExtremesRow> steps() const;

  private:
    std::vector<ExtremesRow> m_rows;
    std::size_t m_next = 0;
};

}  // namespace mantissa
