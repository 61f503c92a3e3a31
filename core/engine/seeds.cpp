#include "engine/seeds.h"

#include "torch_pch.h"

namespace mantissa {

void set_seed(std::int64_t seed, const SeedOptions& options, std::int64_t rank) {
    torch::manual_seed(static_cast<std::uint64_t>(options.device_specific ? seed + rank : seed));  // CUDA's too
    if (options.deterministic) at::globalContext().setDeterministicAlgorithms(true, false);
}

}  // namespace mantissa
