#include "data/random.h"

namespace mantissa {

at::Generator seeded_generator(std::uint64_t seed) {
    at::Generator generator = at::detail::createCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(seed);
    return generator;
}

torch::Tensor seeded_permutation(std::int64_t count, std::uint64_t seed) {
    return torch::randperm(count, seeded_generator(seed), torch::kLong);
}

}  // namespace mantissa
