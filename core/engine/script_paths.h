#pragma once
// Whole paths of the modules that a TorchScript interpreter is in. It tells only the last name of a submodule ("0" for one of
// self.blocks), so the calls in the script's own methods say which ones that may be. Thread: any; immutable.
#include <map>
#include <string>
#include <vector>

namespace torch::jit {
struct Module;
}

namespace mantissa {

class ScriptPaths {
  public:
    explicit ScriptPaths(const torch::jit::Module& script);

    /// Paths that these frames ("blocks(ModuleList)::forward") may mean; several where one method calls two submodules of the same
    /// last name through different parents.
    [[nodiscard]] std::vector<std::string> resolve(const std::vector<std::string>& frames) const;

  private:
    std::map<std::string, std::map<std::string, std::vector<std::string>>> m_called;  // [module][last name]: whole paths
};

/// The script that runs in this thread until the end of the scope.
class ScriptPathsScope {
  public:
    explicit ScriptPathsScope(const ScriptPaths& paths);
    ~ScriptPathsScope();
    ScriptPathsScope(const ScriptPathsScope&) = delete;
    ScriptPathsScope& operator=(const ScriptPathsScope&) = delete;

  private:
    const ScriptPaths* m_previous;
};

/// Of the module that computes in this thread, ours and TorchScript's together; one empty path outside of all modules.
[[nodiscard]] std::vector<std::string> current_module_paths();

}  // namespace mantissa
