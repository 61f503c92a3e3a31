#pragma once
// Runs one trace through our engine, under compat = accelerate, and counts what is equal.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "trace.h"

namespace mantissa::golden {

struct Count {
    const char* kind;
    std::int64_t equal = 0, all = 0;
    std::string first_difference;  // "micro-batch 3: 0x1.8p+0 here, 0x1.9p+0 in the trace"
};

struct Comparison {
    std::array<Count, 8> counts{{{"loss", 0, 0, {}}, {"sync", 0, 0, {}}, {"grad_norm", 0, 0, {}}, {"skipped", 0, 0, {}},
                                 {"scale", 0, 0, {}}, {"growth_tracker", 0, 0, {}}, {"lr", 0, 0, {}},
                                 {"weights", 0, 0, {}}}};
    [[nodiscard]] bool is_equal() const;
};

/// Bad files and settings are Errors; differences are not.
Result<Comparison> repeat(const std::filesystem::path& folder, const Trace& trace);

}  // namespace mantissa::golden
