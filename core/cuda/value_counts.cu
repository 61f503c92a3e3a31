// One pass over a tensor: figures and exponent histogram, as the CPU's kernels make them (numerics/value_blocks). Counts are integers, so
// they don't depend on the order; sums are added up in a fixed one.
#include "cuda/value_counts.h"

#include <cuda_runtime_api.h>

#include "numerics/packed_layout.h"

namespace mantissa::value_counts {
namespace {

using namespace packed_layout;

constexpr int threads = 512, warps = threads / 32, most_blocks = 512, values_per_thread = 16;
constexpr std::uint32_t infinity_bits = 0x7F80'0000U, sign_bit = 0x8000'0000U;

struct Part {
    double sum, magnitude, square;
    unsigned long long negative, neg_inf;
    std::uint32_t largest_bits, smallest_bits;  // of finite magnitudes; the smallest of those that are not 0
};

__device__ Part nothing() { return {0, 0, 0, 0, 0, 0, 0x7FFF'FFFFU}; }

__device__ void add(Part& to, const Part& other) {
    to.sum += other.sum;
    to.magnitude += other.magnitude;
    to.square += other.square;
    to.negative += other.negative;
    to.neg_inf += other.neg_inf;
    to.largest_bits = max(to.largest_bits, other.largest_bits);
    to.smallest_bits = min(to.smallest_bits, other.smallest_bits);
}

__device__ Part from_lane_below(const Part& own, int distance) {
    constexpr unsigned all = 0xFFFF'FFFFU;
    Part other;
    other.sum = __shfl_down_sync(all, own.sum, distance);
    other.magnitude = __shfl_down_sync(all, own.magnitude, distance);
    other.square = __shfl_down_sync(all, own.square, distance);
    other.negative = __shfl_down_sync(all, own.negative, distance);
    other.neg_inf = __shfl_down_sync(all, own.neg_inf, distance);
    other.largest_bits = __shfl_down_sync(all, own.largest_bits, distance);
    other.smallest_bits = __shfl_down_sync(all, own.smallest_bits, distance);
    return other;
}

__device__ void look_at(float value, Part& part) {
    const std::uint32_t bits = __float_as_uint(value), size = bits & ~sign_bit;
    if (size >= infinity_bits) {
        part.neg_inf += bits == (infinity_bits | sign_bit) ? 1 : 0;
        return;
    }
    const double exact = value;
    part.sum += exact;
    part.magnitude += fabs(exact);
    part.square += exact * exact;
    if (size == 0) return;
    part.negative += bits >> 31;
    part.largest_bits = max(part.largest_bits, size);
    part.smallest_bits = min(part.smallest_bits, size);
}

__global__ void look(const float* values, std::int64_t amount, unsigned long long* counts, Part* parts) {
    // 44 KiB of a block's own memory: a count below 2^32 each, since a block sees far fewer values.
    __shared__ unsigned table[counts_end];
    __shared__ Part of_warp[warps];
    for (int i = threadIdx.x; i < counts_end; i += threads) table[i] = 0;
    __syncthreads();
    Part part = nothing();
    const std::int64_t stride = std::int64_t{gridDim.x} * threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < amount; i += stride) {
        const float value = values[i];
        look_at(value, part);
        atomicAdd(&table[place_of(__float_as_uint(value) & ~sign_bit)], 1U);
    }
    for (int distance = 16; distance > 0; distance /= 2) add(part, from_lane_below(part, distance));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < warps; ++warp) add(part, of_warp[warp]);
        parts[blockIdx.x] = part;
    }
    for (int i = threadIdx.x; i < counts_end; i += threads) {
        if (table[i] != 0) atomicAdd(&counts[i], static_cast<unsigned long long>(table[i]));
    }
}

__global__ void pack(const Part* parts, int blocks, const unsigned long long* counts, double* row) {
    for (int i = threadIdx.x; i < counts_end; i += threads) row[figures + i] = static_cast<double>(counts[i]);
    if (threadIdx.x != 0) return;
    Part all = nothing();
    for (int block = 0; block < blocks; ++block) add(all, parts[block]);
    row[negative] = static_cast<double>(all.negative);
    row[neg_inf] = static_cast<double>(all.neg_inf);
    row[largest] = __uint_as_float(all.largest_bits);
    row[smallest] = __uint_as_float(all.smallest_bits);
    row[sum] = all.sum;
    row[magnitude] = all.magnitude;
    row[square] = all.square;
    row[unit] = 1;
    row[subnormal_doubles] = row[asked] = row[unmoved] = 0;
}

}  // namespace

int blocks_for(std::int64_t values) {
    const std::int64_t wanted = (values + threads * values_per_thread - 1) / (threads * values_per_thread);
    return static_cast<int>(wanted < 1 ? 1 : wanted > most_blocks ? most_blocks : wanted);
}

std::size_t bytes_per_block() { return sizeof(Part); }

int count(const float* values, std::int64_t amount, unsigned long long* counts, void* parts, double* row, void* stream) {
    const int blocks = blocks_for(amount);
    auto* const queue = static_cast<cudaStream_t>(stream);
    auto* const of_blocks = static_cast<Part*>(parts);
    look<<<blocks, threads, 0, queue>>>(values, amount, counts, of_blocks);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return static_cast<int>(error);
    pack<<<1, threads, 0, queue>>>(of_blocks, blocks, counts, row);
    return static_cast<int>(cudaGetLastError());
}

}  // namespace mantissa::value_counts
