#pragma once
// Linear layers of a run's first step in mode fp8: which ran in fp8, and which stayed bf16. Its reason is in the numbers: fp8 takes
// sizes that are multiples of 16.
#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct LinearLayer {
    std::string module;  // "hidden"; empty: nobody said
    std::int64_t in = 0, out = 0;
    bool is_fp8 = false;
    bool operator==(const LinearLayer&) const = default;
};

/// A JSON list, for the recording.
[[nodiscard]] std::string to_text(const std::vector<LinearLayer>& layers);
/// Empty for a text that is none.
[[nodiscard]] std::vector<LinearLayer> linear_layers_of(const std::string& text);

}  // namespace mantissa
