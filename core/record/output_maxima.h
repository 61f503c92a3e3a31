#pragma once
// The largest value of every watched output, looked at every few steps between the tensor records of level 1: how fast outputs grow and how
// much batches differ, which a forecast needs and a record every 50 steps doesn't tell. In bounded space: whenever enough steps are kept,
// every second goes and the distance doubles. Recorded as text under one meta key, which is rewritten. Not thread-safe.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mantissa {

namespace meta {
inline constexpr const char* output_maxima = "output_maxima";  // OutputMaxima::to_text()
}

class OutputMaxima {
  public:
    static constexpr std::size_t most_values = 4096, least_steps = 64, most_steps = 512;

    OutputMaxima() = default;
    explicit OutputMaxima(std::int64_t every_steps);

    [[nodiscard]] bool is_due(std::int64_t step) const { return step % m_every == 0; }
    /// Magnitude, +Inf for an output that held Inf or NaN. Steps come in order; one that isn't due is passed over.
    void look(std::int64_t step, const std::string& place, float largest);

    [[nodiscard]] bool empty() const { return m_steps.empty(); }
    [[nodiscard]] std::int64_t every() const { return m_every; }
    /// (step, largest value) of a place, in the order of steps; empty for one that wasn't seen.
    [[nodiscard]] std::vector<std::pair<std::int64_t, double>> of(const std::string& place) const;

    /// Those up to and with this step.
    [[nodiscard]] OutputMaxima until(std::int64_t last_step) const;

    [[nodiscard]] std::string to_text() const;  // JSON
    static Result<OutputMaxima> from_text(std::string_view text);

  private:
    [[nodiscard]] bool is_full() const;
    void thin_out();

    std::int64_t m_every = 1;
    std::vector<std::int64_t> m_steps;
    std::map<std::string, std::vector<float>> m_values;  // NaN: not seen at that step
};

}  // namespace mantissa
