#pragma once
// The options of train and compare that make a plan: plan file or preset, Accelerate's flag names, ours, and
// --set.
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan_sources.h"
#include "plan/presets.h"

namespace CLI {
class App;
class Option;
}

namespace mantissa::cli {

class PlanOptions {
  public:
    void add_to(CLI::App& verb, PlanUse use);
    /// After add_to: without PLAN it is the built-in defaults.
    void make_plan_optional(CLI::App& verb);
    /// All sources together, validated. Errors name the flag, file or variable. `runs`: where a run to go on from is looked for
    /// by its name; the plan of its checkpoint is a source then, and PLAN may be absent.
    [[nodiscard]] Result<SourcedPlan> resolve(PlanUse use, const std::filesystem::path& runs = {}) const;

  private:
    struct Given {
        std::string path, text, flag;
    };
    struct Switch {
        std::string path, flag;
        bool is_on = false;
        const CLI::Option* option = nullptr;
    };
    void add_flag(CLI::App& verb, const char* names, const char* path, const char* help);
    /// Alone it says true; =false, or a spelling with !, says false.
    void add_switch(CLI::App& verb, const char* names, const char* path, const char* help);
    [[nodiscard]] Result<PlanLayer> flag_layer() const;
    Result<void> add_model_and_data(PlanLayer& layer) const;
    [[nodiscard]] Result<PlanLayer> plan_layer(std::optional<Preset>& preset, bool goes_on) const;

    std::string m_plan;
    std::vector<Given> m_given;
    std::deque<Switch> m_switches;  // their places are known to the parser
    std::vector<std::string> m_assignments;
    std::string m_model, m_dataset, m_config_file;
    bool m_cpu = false, m_allow_emulated = false, m_trust = false, m_is_optional = false;
};

}  // namespace mantissa::cli
