#include "engine/executable_batch_size.h"

#include <new>
#include <string_view>

#include "torch_pch.h"

namespace mantissa {

bool is_out_of_memory(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr || dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) {
        return true;
    }
    const std::string_view text = error.what();
    return dynamic_cast<const c10::Error*>(&error) != nullptr &&
           (text.find("DefaultCPUAllocator: can't allocate memory") != std::string_view::npos ||
            text.find("DefaultCPUAllocator: not enough memory") != std::string_view::npos ||
            text.find("CUDNN_STATUS_NOT_SUPPORTED") != std::string_view::npos);
}

std::int64_t next_batch_size(const BatchSizeSearch& search, std::int64_t tried) {
    const std::int64_t next = search.reduce ? search.reduce(tried) : static_cast<std::int64_t>(static_cast<double>(tried) * 0.9);
    if (next >= tried) {
        throw EngineError({ErrorCode::BadPlan,
                           "batch size " + std::to_string(tried) + " doesn't fit into memory, and reduce() gives " + std::to_string(next) + " next",
                           "reduce() must return a smaller size, or 0 to give up"});
    }
    return next;
}

void refuse_every_batch_size(const BatchSizeSearch& search) {
    throw EngineError({ErrorCode::BadPlan,
                       "no batch size fits into memory: tried from " + std::to_string(search.starting_batch_size) + " down to 0",
                       "use a smaller model, gradient accumulation with small batches, or a device with more memory"});
}

}  // namespace mantissa
