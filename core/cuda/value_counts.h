#pragma once
// The statistics kernel's door: plain pointers, so that the CUDA compiler sees no torch header, and the host compiler no kernel.
#include <cstddef>
#include <cstdint>

namespace mantissa::value_counts {

/// Of a tensor of so many values; the sums are added up in an order that depends on this alone, so two looks give the same bits.
[[nodiscard]] int blocks_for(std::int64_t values);
/// Of one block's part of the sums.
[[nodiscard]] std::size_t bytes_per_block();

/// Queues the pass on `stream` (a cudaStream_t). `counts` are packed_layout::counts_end zeros, `parts` room for all blocks, `row` has
/// packed_layout::figures + counts_end doubles. Returns CUDA's error; 0: queued.
[[nodiscard]] int count(const float* values, std::int64_t amount, unsigned long long* counts, void* parts, double* row, void* stream);

}  // namespace mantissa::value_counts
