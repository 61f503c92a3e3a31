#include "base/precision.h"

#include <algorithm>
#include <cctype>
#include <cfloat>

namespace mantissa {

const char* to_string(Precision precision) {
    switch (precision) {
        case Precision::No: return "no";
        case Precision::Fp16: return "fp16";
        case Precision::Bf16: return "bf16";
        case Precision::Fp8: return "fp8";
    }
    return "no";
}

const char* to_string(Support support) {
    switch (support) {
        case Support::Native: return "native";
        case Support::Emulated: return "emulated";
        case Support::Unsupported: return "unsupported";
    }
    return "unsupported";
}

std::optional<Precision> parse_precision(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
        text = text.substr(1, text.size() - 2);
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower == "false") return Precision::No;
    for (const Precision precision : all_precisions)
        if (lower == to_string(precision)) return precision;
    return std::nullopt;
}

std::optional<Support> parse_support(std::string_view text) {
    for (const Support support : {Support::Native, Support::Emulated, Support::Unsupported})
        if (text == to_string(support)) return support;
    return std::nullopt;
}

double largest_finite(Precision precision) {
    switch (precision) {
        case Precision::No: return FLT_MAX;
        case Precision::Fp16: return 65504.0;
        case Precision::Bf16:
        case Precision::Fp8: return 0x1.FEp127;  // what a layer in fp8 gives is bfloat16; its operands are scaled to their format's end
    }
    return FLT_MAX;
}

}  // namespace mantissa
