#include "data/sample_order.h"

#include <algorithm>

#include "base/sha256.h"
#include "data/random.h"

namespace mantissa {

std::uint64_t order_seed(std::uint64_t seed, std::int64_t epoch) {
    std::uint64_t z = seed + (static_cast<std::uint64_t>(epoch) + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (z ^ (z >> 31)) >> 32;
}

torch::Tensor SampleOrder::epoch(std::int64_t epoch) const {
    return m_training.index_select(0, seeded_permutation(samples(), order_seed(m_seed, epoch)));
}

std::string SampleOrder::hash(std::int64_t steps, std::int64_t batch_size, std::int64_t accumulation, bool drop_last) const {
    Sha256 digest;
    digest.add("sample order, int64, batch " + std::to_string(batch_size) + " x " +
               std::to_string(accumulation) + "\n");
    const std::int64_t window = batch_size * accumulation;
    const std::int64_t used = drop_last ? samples() - samples() % batch_size : samples();
    const std::int64_t windows_per_epoch = (used + window - 1) / window;
    for (std::int64_t epoch_index = 0; steps > 0; ++epoch_index) {
        const torch::Tensor order = epoch(epoch_index).contiguous();
        const std::int64_t visited = std::min(used, steps * window);
        digest.add(order.const_data_ptr<std::int64_t>(),
                   static_cast<std::size_t>(visited) * sizeof(std::int64_t));
        steps -= windows_per_epoch;
    }
    return digest.hex();
}

}  // namespace mantissa
