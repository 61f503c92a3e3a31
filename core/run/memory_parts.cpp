#include "run/memory_parts.h"

#include <numeric>

#include "devices/cuda_plugin.h"

namespace mantissa {
namespace {

std::int64_t bytes_of(const std::vector<torch::Tensor>& tensors) {
    return std::accumulate(
        tensors.begin(), tensors.end(), std::int64_t{0}, [](std::int64_t sum, const torch::Tensor& tensor) {
            return sum + (tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0);
        });
}

}  // namespace

void record_memory_parts(RunParts& parts, const MemoryMeter& memory, const StepOutcome& outcome, RunRecorder& recorder) {
    Model& model = parts.bare_model();
    std::vector<torch::Tensor> gradients;
    for (const torch::Tensor& parameter : model.parameters()) gradients.push_back(parameter.grad());
    const std::int64_t weights = bytes_of(model.parameters()) + bytes_of(model.buffers());
    const std::int64_t of_gradients = bytes_of(gradients);
    const std::int64_t optimizer = parts.optimizer.core().state_bytes();
    const std::int64_t rest = memory.current_bytes() - weights - of_gradients - optimizer;
    const std::int64_t step = outcome.facts.step;
    recorder.memory({step, "weights", weights});
    recorder.memory({step, "gradients", of_gradients});
    recorder.memory({step, "optimizer", optimizer});
    recorder.memory({step, "saved_for_backward", outcome.saved_for_backward_bytes});
    recorder.memory({step, "other", rest});
    const torch::Device device = parts.accelerator.device();
    if (const CudaApi* cuda = loaded_cuda_plugin(); cuda != nullptr && device.is_cuda()) {
        const auto taken = cuda->memory(device.index());
        if (!taken) return;  // not known is no row
        recorder.memory({step, "allocator_allocated", taken->allocated});
        recorder.memory({step, "allocator_allocated_peak", taken->allocated_peak});
        recorder.memory({step, "allocator_reserved", taken->reserved});
        recorder.memory({step, "allocator_reserved_peak", taken->reserved_peak});
    }
}

}  // namespace mantissa
