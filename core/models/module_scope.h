#pragma once
// What a model tells about its named places: a layer tells the watcher of this thread its output. Used by the
// trial (headroom) and by incidents (who made the first bad value). Threads: the watcher is per thread;
// without one the cost is a pointer read a layer.
#include <string>
#include <vector>

#include "engine/module_scope.h"
#include "torch_pch.h"

namespace mantissa {

/// Sees the outputs of named places, in the order of computation. `op` is empty for the output of a whole
/// module, else the aten name of a named operation inside it ("mul" of "gate.mul"); operands are those of the
/// operation or the module's input.
class OutputWatch {
  public:
    virtual ~OutputWatch() = default;
    virtual void output(const std::string& module, const std::string& op,
                        const std::vector<torch::Tensor>& operands, const torch::Tensor& result) = 0;
};

/// Makes `watch` the watcher of this thread until the end of the scope; the previous one is restored.
class WatchScope {
  public:
    explicit WatchScope(OutputWatch& watch);
    ~WatchScope();
    WatchScope(const WatchScope&) = delete;
    WatchScope& operator=(const WatchScope&) = delete;

  private:
    OutputWatch* m_previous;
};

[[nodiscard]] OutputWatch* current_watch();

}  // namespace mantissa
