#pragma once
// Accelerate's launch flags (accelerate 1.15, commands/launch.py): what is taken, what is said to do nothing, what is refused.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"

namespace CLI {
class App;
}

namespace mantissa::cli {

class LaunchFlags {
  public:
    void add_to(CLI::App& verb);

    /// The settings that the flags say; refuses contradictions and what is not built.
    [[nodiscard]] Result<PlanLayer> layer() const;
    /// The flags that `train` takes too, spelled for it.
    [[nodiscard]] std::vector<std::string> for_train(bool with_processes = true) const;
    /// For CUDA_VISIBLE_DEVICES: of the flag, else `otherwise` (of a file).
    [[nodiscard]] Result<std::optional<std::string>> visible_gpus(const std::optional<std::string>& otherwise = {}) const;
    [[nodiscard]] std::optional<std::string> value(const std::string& name) const;  // empty: not given
    [[nodiscard]] bool wants_gpus() const { return is_given("multi_gpu"); }
    /// What is said of flags that have no use where one process runs alone.
    [[nodiscard]] std::vector<std::string> notes_for_one_process() const;

    std::string config_file;
    bool quiet = false, debug = false;

  private:
    void add_value(CLI::App& verb, const std::string& name, const char* help);
    void add_switch(CLI::App& verb, const std::string& name, const char* help);
    [[nodiscard]] bool is_given(const std::string& name) const { return m_switches.contains(name) && m_switches.at(name); }
    [[nodiscard]] Result<void> refuse_contradictions() const;
    [[nodiscard]] std::vector<std::string> notes() const;

    std::map<std::string, std::string> m_values;
    std::map<std::string, bool> m_switches;
};

/// Why an argument in front of the program is no flag of `launch`.
[[nodiscard]] Error unknown_launch_flag(const std::string& flag, const CLI::App& verb);

}  // namespace mantissa::cli
