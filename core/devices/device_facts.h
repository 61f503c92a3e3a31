#pragma once
// What is known about a device before anybody asks it to compute. Plain values, so that every rule about them
// can be tried with devices that aren't there.
#include <cstdint>
#include <string>

namespace mantissa {

struct DeviceFacts {
    enum class Kind { Cpu, Cuda };
    Kind kind = Kind::Cpu;
    std::string id = "cpu";  // "cpu" "cuda:0"
    std::string name;
    std::int64_t memory_bytes = 0;

    // A CPU.
    std::int64_t cores = 0;
    bool has_avx2 = false, has_avx512 = false;
    bool has_avx512_fp16 = false, has_avx512_bf16 = false, has_amx_fp16 = false, has_amx_bf16 = false;
    std::string held_back_by;  // "ATEN_CPU_CAPABILITY=avx2": the instructions are there, but the environment
                               // forbids them

    // A GPU.
    int capability_major = 0, capability_minor = 0;
    std::string uuid;  // "GPU-8a3f…"; empty: not known

    /// "AVX512 + AVX512-BF16", "8.9".
    [[nodiscard]] std::string capability() const;
};

}  // namespace mantissa
