#pragma once
// Names of places in a model: a layer holds a ModuleScope while it computes, and tells the watcher of this
// thread its output. Used by the trial (headroom), by incidents (who made the first bad value) and by errors
// (which layer refused). Threads: path and watcher are per thread; without a watcher the cost is two pointer
// writes a layer.
#include <string>
#include <vector>

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

/// `path` must outlive the scope (a member of the layer). Leaving by an exception keeps the innermost path
/// for `module_of_last_failure`.
class ModuleScope {
  public:
    explicit ModuleScope(const std::string& path);
    ~ModuleScope();
    ModuleScope(const ModuleScope&) = delete;
    ModuleScope& operator=(const ModuleScope&) = delete;

    [[nodiscard]] static const std::string& current();  // empty outside of all modules
    [[nodiscard]] static std::string module_of_last_failure();
    static void forget_last_failure();

  private:
    const std::string* m_previous;
    int m_exceptions;
};

}  // namespace mantissa
