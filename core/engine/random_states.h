#pragma once
// The default generators of this process: the CPU's and every CUDA device's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/tensor_file.h"

namespace mantissa {

/// "cpu", "cuda.0", …
[[nodiscard]] NamedTensors random_states();
/// Throws EngineError when a state is none of its generator; nothing is changed.
void check_random_states(const NamedTensors& states);
/// After check_random_states. Devices that are not there, and a rank that has no saved state, are told.
void load_random_states(const NamedTensors& states, std::vector<std::string>& notices);

/// random_states() at little cost: taken before every step, in numbers, and made to tensors only when they are asked for.
class RandomNote {
  public:
    RandomNote();
    void take();
    /// Equal to what random_states() gave at the last take().
    [[nodiscard]] NamedTensors states() const;

  private:
    struct OfDevice {
        std::string name;
        at::Generator generator;
        std::uint64_t seed = 0, offset = 0;
    };
    at::Generator m_cpu;
    at::mt19937 m_engine;
    std::optional<float> m_next_float;    // of a pair of normal numbers the one that wasn't drawn yet
    std::optional<double> m_next_double;
    std::vector<OfDevice> m_devices;
};

}  // namespace mantissa
