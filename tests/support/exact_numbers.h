#pragma once
// Tensors as text that loses nothing: what one process has goes to another, or is compared to the bit.
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "torch_pch.h"

namespace mantissa::test {

/// Values as text, exactly: a difference of one bit is another text.
inline std::string exact(const torch::Tensor& tensor) {
    std::ostringstream text;
    text << std::hexfloat;
    const torch::Tensor flat = tensor.detach().reshape({-1}).to(at::kDouble);
    for (std::int64_t i = 0; i < flat.numel(); ++i) text << flat[i].item<double>() << ' ';
    return text.str();
}

/// What exact() wrote.
inline std::vector<double> numbers(const std::string& text) {
    std::vector<double> all;
    const char* at = text.c_str();
    for (char* end = nullptr;; at = end) {
        const double value = std::strtod(at, &end);
        if (end == at) return all;
        all.push_back(value);
    }
}

}  // namespace mantissa::test
