#pragma once
#include <cstdint>

namespace mantissa {

struct SeedOptions {
    bool device_specific = false;  // each process another one: seed + rank
    bool deterministic = false;    // from now on only deterministic algorithms; what has none is an error
};

/// torch's default generator of the CPU and of every CUDA device. They belong to the process, not to an Accelerator.
void set_seed(std::int64_t seed, const SeedOptions& options = {}, std::int64_t rank = 0);

}  // namespace mantissa
