#include "devices/device_facts.h"

namespace mantissa {

std::string DeviceFacts::capability() const {
    if (kind == Kind::Cuda) return std::to_string(capability_major) + "." + std::to_string(capability_minor);
    std::string text = has_avx512 ? "AVX512" : has_avx2 ? "AVX2" : "no AVX2";
    if (has_avx512_fp16) text += " + AVX512-FP16";
    if (has_avx512_bf16) text += " + AVX512-BF16";
    if (has_amx_fp16) text += " + AMX-FP16";
    if (has_amx_bf16) text += " + AMX-BF16";
    if (!held_back_by.empty()) text += " (held back by " + held_back_by + ")";
    return text;
}

}  // namespace mantissa
