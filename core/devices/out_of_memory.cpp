#include "devices/out_of_memory.h"

#include <array>
#include <cstdio>
#include <regex>

#include "devices/cuda_plugin.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

std::string found(const std::string& text, const char* pattern) {
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

/// As LibTorch's own words beside it: "1.25 GiB".
std::string gibibytes(std::int64_t count) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f GiB", static_cast<double>(count) / static_cast<double>(1 << 30));
    return text.data();
}

}  // namespace

Error explain_out_of_memory(const std::string& text, const std::optional<CudaMemory>& memory) {
    const std::string wanted = found(text, R"(Tried to allocate ([0-9.]+ [KMGT]?i?B))"), gpu = found(text, R"(GPU ([0-9]+) has a total)"),
                      total = found(text, R"(total capacity of ([0-9.]+ [KMGT]?i?B))"), free = found(text, R"(of which ([0-9.]+ [KMGT]?i?B) is free)");
    std::string message = "the memory of " + (gpu.empty() ? std::string("the GPU") : "cuda:" + gpu) + " is full";
    if (!wanted.empty()) message += ": " + wanted + " more were asked for";
    if (!free.empty() && !total.empty()) message += ", " + free + " of " + total + " are free";
    if (memory) {
        message += "; this process had " + gibibytes(memory->allocated_peak) + " in tensors at most, and " + gibibytes(memory->reserved_peak) +
                   " taken from the driver";
    }
    return {ErrorCode::UnsupportedDevice, message,
            "three ways out: half the batch_size with twice the gradient_accumulation_steps (the same numbers); bf16 or fp16, whose "
            "activations take half the room; or end other programs on this GPU (nvidia-smi lists them)"};
}

std::optional<CudaMemory> peak_of_gpu() {
    const CudaApi* const cuda = loaded_cuda_plugin();
    if (cuda == nullptr) return std::nullopt;
    const auto device = c10::impl::VirtualGuardImpl(torch::kCUDA).getDevice();
    const auto memory = cuda->memory(device.index());
    return memory ? std::optional(*memory) : std::nullopt;
}

}  // namespace mantissa
