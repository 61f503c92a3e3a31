#pragma once
// Runs a training function with ever smaller batches until one fits into memory, as upstream's find_executable_batch_size does.
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "engine/engine_error.h"

namespace mantissa {

/// c10::OutOfMemoryError of a device, std::bad_alloc, and what LibTorch's CPU allocator throws.
[[nodiscard]] bool is_out_of_memory(const std::exception& error);

struct BatchSizeSearch {
    std::int64_t starting_batch_size = 128;
    std::function<std::int64_t(std::int64_t)> reduce = {};  // next size after one that didn't fit; unset: × 0.9, rounded down
};

[[nodiscard]] std::int64_t next_batch_size(const BatchSizeSearch& search, std::int64_t tried);
[[noreturn]] void refuse_every_batch_size(const BatchSizeSearch& search);

/// Calls `function(batch_size)` and returns what it returns. It has to make model, optimizer and loader itself, so that a failed try
/// leaves nothing behind. Every other exception passes; EngineError when the size has come to 0.
template <typename Function>
auto find_executable_batch_size(Function&& function, const BatchSizeSearch& search = {}) {
    for (std::int64_t size = search.starting_batch_size; size > 0; size = next_batch_size(search, size)) {
        try {
            return function(size);
        } catch (const std::exception& error) {
            if (!is_out_of_memory(error)) throw;
        }
    }
    refuse_every_batch_size(search);
}

}  // namespace mantissa
