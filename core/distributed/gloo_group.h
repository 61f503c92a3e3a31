#pragma once
// Processes of one run that meet over the network or on one machine: PyTorch's own groups (c10d) behind the engine's ProcessGroup.
// CPU tensors go through Gloo, gradients through c10d's Reducer: in buckets, while backward still runs.
#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "engine/process_group.h"
#include "plan/rank_place.h"

namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace mantissa {

/// Waits until all have come. Errors: BadPlan (a place that can't be), WorkerLost (the others didn't come, the port is taken).
/// Calls of the group throw EngineError(WorkerLost) with the call, the time waited and c10d's own words. From here on this process ignores
/// SIGPIPE unless it has a handler of its own: by it Gloo would die with the other process instead of telling it.
[[nodiscard]] Result<std::shared_ptr<ProcessGroup>> join_group(const RankPlace& place);

/// The processes that this one was started with, by its environment (what torchrun, `mantissa launch --num_processes`, srun and mpirun
/// set), once all have come; empty: it trains alone. For AcceleratorOptions::processes.
[[nodiscard]] Result<std::shared_ptr<ProcessGroup>> join_launch(std::chrono::seconds timeout = std::chrono::seconds(60));

/// Gives a group that join_group made a second way, for tensors that Gloo doesn't take (NCCL's, by the CUDA plugin).
using AddBackend = std::function<Result<void>(c10d::ProcessGroup& group, c10d::Store& store, const RankPlace& place)>;
[[nodiscard]] Result<void> add_backend(ProcessGroup& group, const AddBackend& add);

}  // namespace mantissa
