#pragma once
// Native, emulated or unsupported: one pure function of facts (design rule 5).
#include <string>

#include "base/precision.h"
#include "devices/device_facts.h"

namespace mantissa {

struct SupportAnswer {
    Support support = Support::Unsupported;
    bool allowed = false;  // may be trained in, given `allow_emulated`
    std::string reason;    // a sentence
};

/// CPU: fp16 and bf16 native with their instructions, else emulated and allowed; fp8 only emulated, and only
/// when allowed. CUDA: fp16 native from capability 7.0, bf16 from 8.0 and below that emulated and only when
/// allowed, fp8 from 8.9.
[[nodiscard]] SupportAnswer decide_support(const DeviceFacts& device, Precision mode, bool allow_emulated);

}  // namespace mantissa
