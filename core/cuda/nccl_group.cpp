// NCCL for a group's CUDA tensors: c10d's own ProcessGroupNCCL, beside the Gloo that its CPU tensors go through. What c10d does with
// gradients (its Reducer) takes whichever of the two fits the tensor.
#include "torch_pch.h"
// The wheel is built with both, and its headers ask for them.
#define USE_DISTRIBUTED
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "cuda/functions.h"
#include "cuda/guarded.h"

namespace mantissa::cuda {

Result<void> add_nccl(const NcclPlace& place) {
    return guarded("starting NCCL", [&place]() -> Result<void> {
        // A kernel that waits for a vanished process can't be called back: after the time limit c10d's watchdog ends this process, and
        // the launch tells its signal. A wait that the host could leave would make every reduction a stall.
        auto options = c10d::ProcessGroupNCCL::Options::create();
        options->timeout = std::chrono::milliseconds(place.timeout_ms);
        auto store = c10::intrusive_ptr<c10d::Store>::unsafe_reclaim_from_nonowning(&place.store);
        auto apart = c10::make_intrusive<c10d::PrefixStore>("nccl", std::move(store));
        auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(std::move(apart), static_cast<int>(place.rank),
                                                                static_cast<int>(place.size), std::move(options));
        const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(place.device));
        nccl->setBoundDeviceId(device);
        place.group.setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::NCCL, nccl);
        nccl->eagerConnectSingleDevice(device);  // a process that doesn't come is found here, not in the first backward
        return {};
    });
}

}  // namespace mantissa::cuda
