#pragma once
// The processes that train together, as the Accelerator sees them. One process is the usual case and needs none of this; tests put a
// fake group here, core/distributed puts c10d's. All calls are collective: every rank makes them in the same order.
#include <cstdint>
#include <memory>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

enum class ReduceOperation { Sum, Mean, Max, None };

/// Averages the gradients of one model over all processes. Every process calls it in the same order.
class GradientSync {
  public:
    virtual ~GradientSync() = default;
    /// Before a backward from `root` whose gradients, with those that were added up before, become the mean over all processes. A
    /// backward without it only adds up here.
    virtual void before_backward(const torch::Tensor& root) = 0;
    /// After that backward: from here on the gradients are the means.
    virtual void after_backward() = 0;
};

class ProcessGroup {
  public:
    virtual ~ProcessGroup() = default;
    [[nodiscard]] virtual std::int64_t rank() const = 0;
    [[nodiscard]] virtual std::int64_t size() const = 0;
    /// On this machine; equal to rank() and size() when all ranks are here.
    [[nodiscard]] virtual std::int64_t local_rank() const { return rank(); }
    /// One tensor per rank, in the order of ranks. All have the same dtype and shape (pad first).
    [[nodiscard]] virtual std::vector<torch::Tensor> all_gather(const torch::Tensor& tensor) = 0;
    /// In place. Sum and Max only; a mean is a sum divided by the caller.
    virtual void all_reduce(torch::Tensor& tensor, ReduceOperation operation) = 0;
    virtual void broadcast(torch::Tensor& tensor, std::int64_t from_rank) = 0;
    virtual void barrier() = 0;
    /// Of parameters that require a gradient, the same ones on all processes. The plain way, each gradient after the backward; a
    /// gradient that no process has stays undefined.
    [[nodiscard]] virtual std::unique_ptr<GradientSync> average_gradients(const std::vector<torch::Tensor>& parameters);
};

}  // namespace mantissa
