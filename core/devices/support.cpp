#include "devices/support.h"

namespace mantissa {
namespace {

std::string on(const DeviceFacts& device) {
    return device.id + (device.name.empty() ? "" : " (" + device.name + ")");
}

SupportAnswer native(std::string reason) {
    return {Support::Native, true, std::move(reason)};
}

SupportAnswer cpu_half(const DeviceFacts& cpu, Precision mode) {
    const bool fp16 = mode == Precision::Fp16;
    const bool avx512 = fp16 ? cpu.has_avx512_fp16 : cpu.has_avx512_bf16;
    const bool amx = fp16 ? cpu.has_amx_fp16 : cpu.has_amx_bf16;
    const std::string suffix = fp16 ? "FP16" : "BF16";
    const std::string instructions = amx ? "AMX-" + suffix : "AVX512-" + suffix;
    if ((avx512 || amx) && cpu.held_back_by.empty()) {
        return native(on(cpu) + " computes " + to_string(mode) + " with " + instructions + ".");
    }
    if (avx512 || amx) {
        return {Support::Emulated, true,
                on(cpu) + " has " + instructions + ", but " + cpu.held_back_by + " forbids it: " +
                    to_string(mode) + " is emulated; its numbers count, its speed does not."};
    }
    return {Support::Emulated, true,
            on(cpu) + " has neither AVX512-" + suffix + " nor AMX-" + suffix + ": " + to_string(mode) +
                " is emulated; its numbers count, its speed does not."};
}

SupportAnswer cpu_fp8(const DeviceFacts& cpu, bool allow_emulated) {
    if (allow_emulated) {
        return {Support::Emulated, true,
                on(cpu) +
                    " has no fp8 instructions: fp8 is emulated because --allow-emulated was given; its speed "
                    "says nothing."};
    }
    return {Support::Unsupported, false,
            on(cpu) +
                " has no fp8 instructions: fp8 needs a GPU of compute capability 8.9 or more, or --allow-emulated."};
}

bool at_least(const DeviceFacts& gpu, int major, int minor) {
    return gpu.capability_major > major || (gpu.capability_major == major && gpu.capability_minor >= minor);
}

SupportAnswer cuda_half(const DeviceFacts& gpu, Precision mode, bool allow_emulated) {
    const int needed = mode == Precision::Fp16 ? 7 : 8;
    const std::string has = on(gpu) + " has compute capability " + gpu.capability();
    if (at_least(gpu, needed, 0)) return native(has + ": " + to_string(mode) + " is native.");
    const std::string limit = has + ": " + to_string(mode) + " is native from " + std::to_string(needed) +
                              ".0, below it is emulated and slow";
    if (allow_emulated) return {Support::Emulated, true, limit + "; --allow-emulated was given."};
    return {Support::Emulated, false, limit + ", and allowed only with --allow-emulated."};
}

SupportAnswer cuda_fp8(const DeviceFacts& gpu) {
    const std::string has = on(gpu) + " has compute capability " + gpu.capability();
    if (at_least(gpu, 8, 9)) return native(has + ": fp8 is native.");
    return {Support::Unsupported, false, has + ": fp8 needs 8.9 or more."};
}

}  // namespace

SupportAnswer decide_support(const DeviceFacts& device, Precision mode, bool allow_emulated) {
    const bool cpu = device.kind == DeviceFacts::Kind::Cpu;
    switch (mode) {
        case Precision::No:
            return native(on(device) + " computes in fp32.");
        case Precision::Fp16:
        case Precision::Bf16:
            return cpu ? cpu_half(device, mode) : cuda_half(device, mode, allow_emulated);
        case Precision::Fp8:
            return cpu ? cpu_fp8(device, allow_emulated) : cuda_fp8(device);
    }
    return {};
}

}  // namespace mantissa
