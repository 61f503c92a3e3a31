#pragma once
// Names the place in a model that computes right now: of islands, incidents, and errors. A layer holds a ModuleScope in its
// forward; TorchScript names its modules itself. Threads: the path is per thread, two pointer writes a layer.
#include <string>

namespace mantissa {

/// `path` must outlive the scope (a member of the layer). Leaving by an exception keeps the innermost path
/// for `module_of_last_failure`.
class ModuleScope {
  public:
    explicit ModuleScope(const std::string& path);
    explicit ModuleScope(std::string&&) = delete;
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
